import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers, findProgram, runToEnd, startServer, type TestServer } from './process.ts';

const VERSION = '4.1.0';
/** Kept between runs: 45 files, 43 MB. */
const JARS = process.env.KAFKA_JARS ?? join(tmpdir(), `firsthand-kafka-${VERSION}`);
export const KAFKA_PASSWORD = 'right';

/** Java, and the jars or Maven to fetch them. */
export function canHaveKafka(): boolean {
  return findProgram('java') !== undefined && (existsSync(JARS) || findProgram('mvn') !== undefined);
}

/** One broker in KRaft mode. The next port but one asks for SASL PLAIN or SCRAM of the user `writer`. */
export async function startKafka(): Promise<TestServer & { saslPort: number }> {
  const java = findProgram('java');
  if (!java) throw new Error('Java is not installed (Debian: apt-get install default-jre-headless maven)');
  await fetchJars();
  const classes = `${JARS}/*`;
  let saslPort = 0;
  const server = await startServer({
    name: 'kafka',
    command: (directory, port) => {
      saslPort = port + 2;
      const file = join(directory, 'server.properties');
      writeFileSync(file, settings(directory, port));
      const run = `${java} -Xmx512m -cp '${classes}'`;
      const format = `${run} kafka.tools.StorageTool format --ignore-formatted -t MkU3OEVBNTcwNTJENDM2Qg -c ${file}`;
      return ['/bin/sh', '-c', `${format} && exec ${run} kafka.Kafka ${file}`];
    },
    url: (port) => `127.0.0.1:${port}`,
    ready: (port) => answers(port, API_VERSIONS, ['\0']),
    endSignal: 'SIGTERM',
  });
  return Object.defineProperty(server as TestServer & { saslPort: number }, 'saslPort', { get: () => saslPort });
}

function settings(directory: string, port: number): string {
  const login = (more: string) => `org.apache.kafka.common.security.plain.PlainLoginModule required ${more};`;
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${port + 1}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},SASL_PLAINTEXT://127.0.0.1:${port + 2}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port},SASL_PLAINTEXT://127.0.0.1:${port + 2}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.sasl_plaintext.plain.sasl.jaas.config': login(`user_writer="${KAFKA_PASSWORD}"`),
    'log.dirs': join(directory, 'data'),
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

async function fetchJars(): Promise<void> {
  if (existsSync(JARS) && readdirSync(JARS).length > 0) return;
  const mvn = findProgram('mvn');
  if (!mvn) throw new Error('Maven is not installed (Debian: apt-get install maven)');
  const folder = `${JARS}-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>test</groupId><artifactId>kafka</artifactId>
    <version>1</version><packaging>pom</packaging><dependencies><dependency><groupId>org.apache.kafka</groupId>
    <artifactId>kafka_2.13</artifactId><version>${VERSION}</version></dependency></dependencies></project>`,
  );
  await runToEnd([
    mvn,
    '-q',
    '-B',
    '-f',
    join(folder, 'pom.xml'),
    'dependency:copy-dependencies',
    `-DoutputDirectory=${join(folder, 'jars')}`,
  ]);
  renameSync(join(folder, 'jars'), JARS);
}

// ApiVersions, version 0, correlation id 1, without a client id: answered once the broker is up.
const API_VERSIONS = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff]);
