/**
 * Files on an SFTP server. A file is written under a hidden name and renamed when it is complete. Plain SFTP renames never replace, so a
 * final name is written once; the hidden name derives from the content too, so a retry overwrites its own rest.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import ssh2, { type SFTPWrapper } from 'ssh2';
import { DestinationRefused } from '../../outbound/resolver.ts';
import { errorText } from '../../runtime/error-text.ts';
import type { DriverOptions, OpenTransport } from '../port.ts';
import { fileTransport } from './file-transport.ts';
import { connectGuarded } from './guarded-connect.ts';
import { ALREADY_STORED, type FileObject, type ObjectStore, type PutVerdict } from './store.ts';

type Connection = Readonly<Record<string, string>>;

/** `host`, `port`, `username`, `authentication` (`private_key`, `password`), these two, `passphrase`, `host_key`, `directory`. */
export const openSftp: OpenTransport = (connection, options) => fileTransport(connection, new SftpStore(connection, options));

/** Parts of a file in flight at once, so that a long round trip does not limit the speed. */
const PARALLEL_WRITES = 8;
const PART_BYTES = 256 * 1024;
const KEEP_ALIVE_MS = 15_000;
const READY_MS = 20_000;
/** Status codes of SFTP version 3. */
const NO_SUCH_FILE = 2;

interface Session {
  client: ssh2.Client;
  sftp: SFTPWrapper;
  /** Folders that are known to exist. */
  folders: Set<string>;
}

class SftpStore implements ObjectStore {
  readonly #connection: Connection;
  readonly #options: DriverOptions;
  #session: Promise<Session> | undefined;

  constructor(connection: Connection, options: DriverOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async put(object: FileObject, timeout_ms: number): Promise<PutVerdict> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('timeout')), timeout_ms);
    });
    const opened = (this.#session ??= this.#open());
    try {
      return await Promise.race([opened.then((session) => this.#write(session, object)), late]);
    } catch (error) {
      // A failed or hanging connection is not used again. Others that share it fail with it and are retried.
      if (this.#session === opened) this.#session = undefined;
      void opened.then(({ client }) => client.destroy()).catch(() => undefined);
      if (error instanceof DestinationRefused) return { kind: 'refused', reason: error.message };
      return { kind: 'unavailable', reason: `sftp: ${errorText(error)}` };
    } finally {
      clearTimeout(timer);
    }
  }
  url(key: string): string {
    const { host = '', port = '22' } = this.#connection;
    return `sftp://${host}:${port}/${this.#pathOf(key).replace(/^\//, '')}`;
  }
  async close(): Promise<void> {
    const opened = this.#session;
    this.#session = undefined;
    const session = await opened?.catch(() => undefined);
    session?.client.end();
  }

  #pathOf(key: string): string {
    return posix.join(this.#connection.directory || '.', key);
  }

  async #write({ sftp, folders }: Session, { key, bytes }: FileObject): Promise<PutVerdict> {
    const path = this.#pathOf(key);
    if (await exists(sftp, path)) return ALREADY_STORED;
    const folder = posix.dirname(path);
    await makeFolders(sftp, folder, folders);
    const part = posix.join(folder, `.${posix.basename(path)}.part`);
    await writeFile(sftp, part, bytes);
    try {
      await promisify(sftp.rename.bind(sftp))(part, path);
    } catch (error) {
      // Another writer of the same content came first.
      if (!(await exists(sftp, path))) throw error;
      await promisify(sftp.unlink.bind(sftp))(part);
      return ALREADY_STORED;
    }
    return { kind: 'delivered' };
  }

  async #open(): Promise<Session> {
    const { host = '', port = '22', username = '', authentication, password, private_key, passphrase, host_key = '' } = this.#connection;
    const sock = await connectGuarded(host, Number(port), this.#options);
    const client = new ssh2.Client();
    let offered = '';
    try {
      await new Promise<void>((resolve, reject) => {
        client.once('ready', resolve);
        client.once('close', () => reject(new Error('the server closed the connection')));
        client.on('error', (error) => {
          const strange = offered !== '' && !sameKey(offered, host_key);
          reject(strange ? new Error(`the server has another host key: SHA256:${offered}`) : error);
        });
        client.connect({
          sock,
          username,
          ...(private_key && authentication !== 'password'
            ? { privateKey: private_key, ...(passphrase ? { passphrase } : {}) }
            : { password: password ?? '', tryKeyboard: true }),
          hostVerifier: (key: Buffer) => {
            offered = createHash('sha256')
              .update(key)
              .digest('base64')
              .replace(/={1,2}$/, '');
            return sameKey(offered, host_key);
          },
          keepaliveInterval: KEEP_ALIVE_MS,
          readyTimeout: READY_MS,
        });
        client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => finish(prompts.map(() => password ?? '')));
      });
      const sftp = await new Promise<SFTPWrapper>((resolve, reject) =>
        client.sftp((error, opened) => (error ? reject(error) : resolve(opened))),
      );
      client.once('close', () => {
        this.#session = undefined;
      });
      return { client, sftp, folders: new Set() };
    } catch (error) {
      client.destroy();
      // The client does not know the socket when it throws at once, as it does for a private key that does not parse.
      sock.destroy();
      throw error;
    }
  }
}

/** A fingerprint as `ssh-keygen -l` prints it, with or without `SHA256:` and padding. */
function sameKey(offered: string, expected: string): boolean {
  return (
    expected
      .trim()
      .replace(/^SHA256:/i, '')
      .replace(/={1,2}$/, '') === offered
  );
}

async function exists(sftp: SFTPWrapper, path: string): Promise<boolean> {
  try {
    await promisify(sftp.stat.bind(sftp))(path);
    return true;
  } catch (error) {
    if (codeOf(error) === NO_SUCH_FILE) return false;
    throw error;
  }
}

async function makeFolders(sftp: SFTPWrapper, folder: string, known: Set<string>): Promise<void> {
  if (folder === '.' || folder === '/' || known.has(folder)) return;
  if (!(await exists(sftp, folder))) {
    await makeFolders(sftp, posix.dirname(folder), known);
    try {
      await promisify<string>(sftp.mkdir.bind(sftp))(folder);
    } catch (error) {
      // Two files may create the same folder at once.
      if (!(await exists(sftp, folder))) throw error;
    }
  }
  known.add(folder);
}

async function writeFile(sftp: SFTPWrapper, path: string, bytes: Uint8Array): Promise<void> {
  const handle = await promisify<string, 'w', Buffer>(sftp.open.bind(sftp))(path, 'w');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const write = promisify<Buffer, Buffer, number, number, number>(sftp.write.bind(sftp));
  let next = 0;
  const writeParts = async () => {
    while (next < buffer.length) {
      const from = next;
      next += PART_BYTES;
      await write(handle, buffer, from, Math.min(PART_BYTES, buffer.length - from), from);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_WRITES }, writeParts));
  await flush(sftp, handle);
  await promisify(sftp.close.bind(sftp))(handle);
}

/** An extension of OpenSSH. On other servers the file is as durable as a close makes it. */
async function flush(sftp: SFTPWrapper, handle: Buffer): Promise<void> {
  try {
    await promisify(sftp.ext_openssh_fsync.bind(sftp))(handle);
  } catch (error) {
    if (!/does not support/i.test(errorText(error))) throw error;
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
