import { findProgram, postgresFolders } from './process.ts';

export const findPostgres = () => findProgram('postgres', postgresFolders());
export const findNats = () => findProgram('nats-server', ['/usr/sbin', '/usr/local/sbin']);
export const findChromium = () => findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome');
