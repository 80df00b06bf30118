/** Google Cloud Storage through its JSON API. `ifGenerationMatch=0` makes the write create-only: 412 means that it is already there. */
import { randomUUID } from 'node:crypto';
import { isObject } from '@firsthand/core/json.ts';
import type { TokenPlan, VendorReply } from '@firsthand/core/vendor/compiled.ts';
import type { DriverOptions, OpenTransport } from '../port.ts';
import { fileTransport } from './file-transport.ts';
import { failure, request } from './http-verdict.ts';
import { ALREADY_STORED, type FileObject, type ObjectStore, type PutVerdict } from './store.ts';

type Connection = Readonly<Record<string, string>>;

/** `bucket`, `client_email`, `private_key`, `endpoint`, `token_url`, `storage_class`. */
export const openGcs: OpenTransport = (connection, options) => fileTransport(connection, new GcsStore(connection, options));

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write';

class GcsStore implements ObjectStore {
  readonly #connection: Connection;
  readonly #http: DriverOptions['http'];
  readonly #plan: TokenPlan;

  constructor(connection: Connection, { http }: DriverOptions) {
    this.#connection = connection;
    this.#http = http;
    this.#plan = {
      kind: 'google_service_account',
      token_url: connection.endpoint ? `${connection.endpoint.replace(/(?<!\/)\/+$/, '')}/token` : 'https://oauth2.googleapis.com/token',
      client_email: connection.client_email ?? '',
      private_key: (connection.private_key ?? '').replaceAll('\\n', '\n'),
      scope: SCOPE,
    };
  }

  async put(object: FileObject, timeout_ms: number): Promise<PutVerdict> {
    const deadline = performance.now() + timeout_ms;
    for (let fresh = false; ; fresh = true) {
      const token = await this.#http.tokens.get(this.#plan);
      // A key that the token endpoint rejects can be corrected; an address that must not be reached cannot.
      if (token.kind === 'refused') return { kind: /http_\d/.test(token.reason) ? 'unavailable' : 'refused', reason: token.reason };
      if (token.kind === 'unavailable') return token;
      const sent = await request(this.#http, this.#upload(object, token.token), Math.max(1, deadline - performance.now()));
      if ('failed' in sent) return sent.failed;
      const { reply } = sent;
      if (reply.status < 300) return { kind: 'delivered' };
      if (reply.status === 412) return ALREADY_STORED;
      if (reply.status === 401 && !fresh) {
        this.#http.tokens.reject(this.#plan, token.token);
        continue;
      }
      return failure(reply, reasonOf(reply), this.#http.clock.now());
    }
  }
  url(key: string): string {
    return `gs://${this.#connection.bucket}/${key}`;
  }
  async close(): Promise<void> {}

  /** Metadata and content in one request. The service checks the MD5 before the object exists. */
  #upload({ key, bytes, content_type, md5 }: FileObject, token: string) {
    const { bucket = '', endpoint, storage_class } = this.#connection;
    const boundary = `firsthand-${randomUUID()}`;
    const metadata = { name: key, contentType: content_type, md5Hash: md5, ...(storage_class ? { storageClass: storage_class } : {}) };
    const body = Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(metadata)}\r\n`),
      Buffer.from(`--${boundary}\r\nContent-Type: ${content_type}\r\n\r\n`),
      bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    // A field that is not filled in is an empty text.
    const base = (endpoint || 'https://storage.googleapis.com').replace(/(?<!\/)\/+$/, '');
    return {
      method: 'POST',
      url: `${base}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?uploadType=multipart&ifGenerationMatch=0`,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': `multipart/related; boundary=${boundary}` },
      body,
    };
  }
}

/** `{"error": {"errors": [{"reason"}], "message"}}` */
function reasonOf({ body }: VendorReply): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    const error = isObject(parsed) ? parsed.error : undefined;
    const first = isObject(error) && Array.isArray(error.errors) ? error.errors[0] : undefined;
    const reason = isObject(first) ? first.reason : isObject(error) ? error.message : undefined;
    return typeof reason === 'string' ? reason.slice(0, 100) : undefined;
  } catch {
    return undefined; // an error page of a proxy
  }
}
