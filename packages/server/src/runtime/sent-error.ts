/** An error on its way to another thread, with what tells an outage of a store from other faults. */
export interface SentError {
  message: string;
  code?: unknown;
  errcode?: unknown;
}

export function sentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode }: SentError = error;
  return { message, code, errcode };
}
export function receivedError(sent: SentError): Error {
  return Object.assign(new Error(sent.message), sent);
}
