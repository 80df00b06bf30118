/** Hints between processes. They may be lost, so the builder and the file servers also poll. */

/** A build was requested. */
export const BUILD_WANTED_CHANNEL = 'collector.build-wanted';
/** A build finished; the message is the pipeline's id. */
export const BUILD_FINISHED_CHANNEL = 'collector.build-finished';
