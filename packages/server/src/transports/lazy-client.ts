import type { Verdict } from '@firsthand/core/vendor/compiled.ts';

/**
 * The one client of a transport. The first use opens it. After a failure that may have broken it, `discard` closes it and the
 * next use opens another: new credentials and a restarted server need nothing else.
 */
export class LazyClient<Client> {
  readonly #open: () => Promise<Client>;
  readonly #end: (client: Client) => Promise<void>;
  #opened: Promise<Client> | undefined;
  readonly #ending = new Set<Promise<void>>();

  constructor(open: () => Promise<Client>, end: (client: Client) => Promise<void>) {
    this.#open = open;
    this.#end = end;
  }

  /** Rejects where the client cannot be opened in time. */
  async use(deadline: number): Promise<Client> {
    const opening = (this.#opened ??= this.#open());
    try {
      return await within(opening, deadline);
    } catch (error) {
      this.#discard(opening);
      throw error;
    }
  }
  discard(): void {
    if (this.#opened) this.#discard(this.#opened);
  }
  /** Resolves when no connection is left. */
  async close(): Promise<void> {
    this.discard();
    await Promise.all(this.#ending);
  }

  #discard(opening: Promise<Client>): void {
    if (this.#opened === opening) this.#opened = undefined;
    // A client that could not be opened, or is broken, has nothing left to close.
    const ending = opening.then((client) => this.#end(client)).catch(() => undefined);
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }
}

export function within<T>(work: Promise<T>, deadline: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), Math.max(0, deadline - performance.now()));
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

type RecordVerdict = Exclude<Verdict, { kind: 'partial' }>;

/** One verdict for all records where they agree. */
export function verdictOfAll(verdicts: RecordVerdict[]): Verdict {
  return verdicts.every(({ kind }) => kind === 'delivered') ? { kind: 'delivered' } : { kind: 'partial', items: verdicts };
}

/** `tls`: `verify` checks the certificate, `require` encrypts only, `disable` is plain text. PEM texts are optional. */
export function tlsOptions(connection: Readonly<Record<string, string>>): TlsSettings | undefined {
  const { tls, ca, certificate, private_key } = connection;
  if (tls === 'disable') return undefined;
  return {
    rejectUnauthorized: tls !== 'require',
    ...(ca ? { ca } : {}),
    ...(certificate && private_key ? { cert: certificate, key: private_key } : {}),
  };
}
interface TlsSettings {
  rejectUnauthorized: boolean;
  ca?: string;
  cert?: string;
  key?: string;
}
