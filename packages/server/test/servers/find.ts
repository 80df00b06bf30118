import { join } from 'node:path';
import { findProgram, postgresFolders } from './process.ts';

export const findPostgres = () => findProgram('postgres', postgresFolders());
/** Where `scripts/nats-server.ts` puts the current release. */
export const NATS_FOLDER = join(import.meta.dirname, '../../../../node_modules/.cache/nats-server');
/** The downloaded release comes before what the system has: Debian's is too old to be supported. */
export const findNats = () => findProgram('nats-server', ['/usr/sbin', '/usr/local/sbin'], [NATS_FOLDER]);
export const findSshd = () => findProgram('sshd', ['/usr/sbin', '/usr/local/sbin']);
export const findChromium = () => findProgram('chromium') ?? findProgram('chromium-browser') ?? findProgram('google-chrome');
export const findRedis = () => findProgram('redis-server');
export const findMosquitto = () => findProgram('mosquitto', ['/usr/sbin', '/usr/local/sbin']);
export const findRabbitmq = () => findProgram('rabbitmq-server', ['/usr/sbin']);
