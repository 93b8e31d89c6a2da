/* page/style.h - how a page looks. */
#ifndef MGVI_PAGE_STYLE_H
#define MGVI_PAGE_STYLE_H

/* Colours of series: Okabe and Ito, Color Universal Design; lighter on a dark page. */
static const char mgvi_page_style[] =
    ":root{--ink:#1b1b1b;--soft:#5a5a5a;--paper:#fff;--line:#d9d9d9;--good:#00664a;--half:#7a5200;"
    "--bad:#a13600;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b0487f;--c4:#a87400;--c5:#2f8fc4;"
    "--c6:#333;--c7:#6f6a00}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--soft:#a8a8a8;--paper:#16181b;"
    "--line:#3a3d42;--good:#56d3a8;--half:#f0c05a;--bad:#ff9a66;--c0:#56b4e9;--c1:#ff8b3d;"
    "--c2:#2cc99a;--c3:#e59acb;--c4:#f2b93b;--c5:#8fd0f5;--c6:#ddd;--c7:#d3cf5a}}\n"
    "*{box-sizing:border-box}"
    "body{margin:0 auto;padding:1rem;max-width:62rem;font:16px/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--paper);overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.2}h2{font-size:1.2rem;margin:2.2rem 0 .4rem;"
    "border-top:1px solid var(--line);padding-top:1rem}p{margin:.5rem 0}\n"
    "a{color:var(--c0)}pre{overflow-x:auto;padding:.6rem;border:1px solid var(--line);"
    "border-radius:4px;font-size:.85rem}\n"
    ".mark{font-size:.8rem;font-weight:600;border:1px solid;border-radius:1rem;padding:.1rem .6rem;"
    "margin-left:.5rem;white-space:nowrap}.k0{color:var(--soft)}.k1{color:var(--good)}"
    ".k2{color:var(--half)}.k3{color:var(--bad)}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr));"
    "gap:1rem;margin:.8rem 0}figure{margin:0}figcaption{font-weight:600;font-size:.9rem}\n"
    "figure svg{width:100%;height:auto;display:block}figure ul{list-style:none;margin:.2rem 0;"
    "padding:0;display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.85rem}"
    "figure li svg{display:inline;width:30px;height:12px;vertical-align:middle}\n"
    "text{font:13px system-ui,sans-serif;fill:var(--ink)}.g{stroke:var(--line);stroke-width:.6}"
    ".box{fill:none;stroke:var(--soft);stroke-width:.8}.l{fill:none;stroke:currentColor;"
    "stroke-width:1.6;stroke-linejoin:round}.b{fill:currentColor;opacity:.15}"
    ".m{fill:currentColor;stroke:currentColor;stroke-width:1.2}\n"
    ".s0{color:var(--c0)}.s1{color:var(--c1)}.s1 .l{stroke-dasharray:7 3}.s2{color:var(--c2)}"
    ".s2 .l{stroke-dasharray:3 2}.s3{color:var(--c3)}.s3 .l{stroke-dasharray:9 3 2 3}"
    ".s4{color:var(--c4)}.s5{color:var(--c5)}.s5 .l{stroke-dasharray:12 4}.s6{color:var(--c6)}"
    ".s6 .l{stroke-dasharray:1.5 2.5}.s7{color:var(--c7)}.s7 .l{stroke-dasharray:6 2 2 2 2 2}\n"
    ".no{position:absolute}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;"
    "margin:.6rem 0}"
    "caption{text-align:left;font-weight:600}th,td{border-bottom:1px solid var(--line);"
    "padding:.25rem .6rem;text-align:left;vertical-align:top}.r{text-align:right;"
    "font-variant-numeric:tabular-nums}\n"
    "@media print{:root{--ink:#000;--soft:#444;--paper:#fff;--line:#bbb;--c0:#0072b2;--c1:#d55e00;"
    "--c2:#009e73;--c3:#b0487f;--c4:#a87400;--c5:#2f8fc4;--c6:#333;--c7:#6f6a00;--good:#00664a;"
    "--half:#7a5200;--bad:#a13600}figure,table,pre{break-inside:avoid}h2{break-after:avoid}}\n";
#endif
