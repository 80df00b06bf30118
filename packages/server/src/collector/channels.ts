/** Hints between processes. They may be lost: the builder also looks by itself, and so do those who serve files. */

/** A build was asked for. */
export const BUILD_WANTED_CHANNEL = 'collector.build-wanted';
/** A build ended; the message is the pipeline's id. */
export const BUILD_FINISHED_CHANNEL = 'collector.build-finished';
