export { AWS_KEY, type AwsAnswer, type AwsCall, startAws } from './aws.ts';
export { startDatabase, type TestDatabase } from './database.ts';
export { canHaveKafka, KAFKA_PASSWORD, startKafka } from './kafka.ts';
export { MQTT_PASSWORD, startMosquitto } from './mosquitto.ts';
export { startNats, startNatsCluster } from './nats.ts';
export { startPostgres } from './postgres.ts';
export { endingWithUs, freePort, type TestServer } from './process.ts';
export { startRabbitmq } from './rabbitmq.ts';
export { startRedis } from './redis.ts';
