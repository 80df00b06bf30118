/** What producers and consumers of Kafka share: brokers, TLS, SASL, and how their errors read. */
import { type BaseOptions, findErrorBy } from '@platformatic/kafka';
import { errorText } from '../runtime/error-text.ts';
import { tlsOptions } from './lazy-client.ts';

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

/** `brokers` (`host:port`, comma-separated), `tls`, `ca`, `certificate`, `private_key`, `sasl_mechanism`, `username`, `password`. */
export function kafkaConnection(connection: Readonly<Record<string, string>>): BaseOptions {
  const tls = tlsOptions(connection);
  const mechanism = MECHANISMS.find((name) => name === connection.sasl_mechanism);
  return {
    clientId: 'firsthand',
    bootstrapBrokers: (connection.brokers ?? '').split(',').map(brokerOf),
    connectTimeout: 10_000,
    requestTimeout: 20_000,
    timeout: 15_000,
    ...(tls ? { tls, tlsServerName: true } : {}),
    ...(mechanism ? { sasl: { mechanism, username: connection.username ?? '', password: connection.password ?? '' } } : {}),
  };
}

function brokerOf(text: string): { host: string; port: number } {
  const found = /^\s*(?:\[([0-9a-f:.]+)\]|([^\s:]+)):(\d{1,5})\s*$/i.exec(text);
  const host = found?.[1] ?? found?.[2];
  if (host === undefined) throw new Error(`${JSON.stringify(text)} is not a broker: write host:port`);
  return { host, port: Number(found?.[3]) };
}

export function kafkaFault(error: unknown, apiIds: readonly string[]): boolean {
  return error instanceof Error && apiIds.some((id) => findErrorBy(error, 'apiId', id) !== null);
}

/** The innermost error says what happened; the outer ones count retries. */
export function kafkaErrorText(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5; depth++) {
    const errors: unknown = inner instanceof AggregateError ? inner.errors.at(-1) : inner instanceof Error ? inner.cause : undefined;
    if (!(errors instanceof Error)) break;
    inner = errors;
  }
  return errorText(inner);
}
