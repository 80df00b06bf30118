export { startNats, startNatsCluster } from './nats.ts';
export { startPostgres } from './postgres.ts';
export { endingWithUs, freePort, type TestServer } from './process.ts';
