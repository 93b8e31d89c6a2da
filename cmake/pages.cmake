# The manual page and the shells' completions: the command prints them, so they tell what was built.
# margrave_page(FOLDER NAME ARGUMENT...) - installs what `margrave ARGUMENT...` prints.
set(pages)
function(margrave_page folder name)
    set(page ${PROJECT_BINARY_DIR}/pages/${name})
    add_custom_command(
        OUTPUT ${page}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/pages
        COMMAND margrave_cli ${ARGN} > ${page}
        DEPENDS margrave_cli
        COMMENT "Writing pages/${name}"
        VERBATIM)
    install(FILES ${page} DESTINATION ${folder})
    set(pages ${pages} ${page} PARENT_SCOPE)
endfunction()

margrave_page(${CMAKE_INSTALL_MANDIR}/man1 margrave.1 man)
margrave_page(${CMAKE_INSTALL_DATADIR}/bash-completion/completions margrave completion bash)
margrave_page(${CMAKE_INSTALL_DATADIR}/zsh/site-functions _margrave completion zsh)
margrave_page(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d margrave.fish completion fish)
add_custom_target(margrave_pages ALL DEPENDS ${pages})
