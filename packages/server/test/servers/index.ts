export { startNats } from './nats.ts';
export { startPostgres } from './postgres.ts';
export { freePort, type TestServer } from './process.ts';
