/* io/list.h - the registry of readers and writers, MGVI_READER(name) for mgvi_reader_NAME. Readers
 * that know their files by a magic number come first: the search ends at a sure answer. */
MGVI_READER(mgd)
MGVI_READER(npy)
MGVI_READER(npz)
MGVI_READER(mtx)
MGVI_READER(idx)
MGVI_READER(libsvm)
MGVI_READER(csv)

MGVI_WRITER(mgd)
MGVI_WRITER(npy)
MGVI_WRITER(npz)
MGVI_WRITER(mtx)
MGVI_WRITER(libsvm)
MGVI_WRITER(csv)
