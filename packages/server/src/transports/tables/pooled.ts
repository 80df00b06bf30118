import { within } from './within.ts';

interface Pooled<Client> {
  connect(): Promise<Client>;
  /** Takes back a connection that can be used again. */
  release(client: Client): void;
  /** Ends a connection that may be in the middle of a transaction. */
  destroy(client: Client): void;
}

/** Runs `work` with one connection of the pool. It goes back clean or not at all. */
export async function usingConnection<Client, T>(
  { connect, release, destroy }: Pooled<Client>,
  deadline: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const connecting = connect();
  let client: Client;
  try {
    client = await within(connecting, deadline);
  } catch (error) {
    // A connection that comes too late goes back at once.
    connecting.then(release, () => undefined);
    throw error;
  }
  try {
    const result = await within(work(client), deadline);
    release(client);
    return result;
  } catch (error) {
    destroy(client);
    throw error;
  }
}
