/** Classifies database errors. Drivers report codes, but sometimes only a message. */
/** Connection lost, server stopping or starting, out of resources, read-only after a failover. */
const POSTGRES_AWAY = /^(08|57P0|53|25006)/;
/** Lost a race for a lock: the connection is fine, and a retry may succeed. */
const POSTGRES_RACE = new Set(['40001', '40P01', '55P03']);
const SOCKET_AWAY = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
const WORDS_AWAY =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|not queryable|Cannot use a pool after calling end|driver has already been destroyed|connection has been discarded/;
/** Busy, locked, out of memory, read-only, I/O error, full, cannot open. */
const SQLITE_AWAY = new Set([5, 6, 7, 8, 10, 13, 14]);
const SQLITE_UNIQUE = new Set([2067, 1555]);

interface DriverError {
  code?: unknown;
  errcode?: unknown;
  message?: unknown;
  errors?: unknown;
  cause?: unknown;
}

/** The database is unreachable, frozen, full or overloaded: a retry may succeed later. */
export function isUnavailable(error: unknown): boolean {
  return isConnectionLost(error) || isLostRace(error);
}

/** PostgreSQL rolled the transaction back because of another one. It may be repeated. */
export function isLostRace(error: unknown): boolean {
  return POSTGRES_RACE.has((error as DriverError | null)?.code as string);
}

/** The connection that reported this error is unusable. */
export function isConnectionLost(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, errcode, message, errors, cause } = error as DriverError;
  if (Array.isArray(errors) && errors.some(isConnectionLost)) return true;
  if (code === 'ERR_SQLITE_ERROR') return typeof errcode === 'number' && SQLITE_AWAY.has(errcode & 0xff);
  if (typeof code === 'string') return SOCKET_AWAY.has(code) || (code.length === 5 && POSTGRES_AWAY.test(code));
  return (typeof message === 'string' && WORDS_AWAY.test(message)) || isConnectionLost(cause);
}

export function isUniqueViolation(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, errcode } = error as DriverError;
  return code === '23505' || (code === 'ERR_SQLITE_ERROR' && SQLITE_UNIQUE.has(errcode as number));
}
