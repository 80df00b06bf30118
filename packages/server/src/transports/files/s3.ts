/**
 * Amazon S3 and compatible stores. `If-None-Match: *` makes the write create-only: 412 means that the object is already there. A store
 * without conditional writes is asked for the object first.
 */
import type { VendorReply } from '@firsthand/core/vendor/compiled.ts';
import { type AwsCredentials, authorization, percentEncode } from '@firsthand/core/vendor/sigv4.ts';
import type { DriverOptions, OpenTransport } from '../port.ts';
import { bucketAddress } from '../s3-address.ts';
import { fileTransport } from './file-transport.ts';
import { failure, request, xmlText } from './http-verdict.ts';
import { ALREADY_STORED, type FileObject, type ObjectStore, type PutVerdict } from './store.ts';

type Connection = Readonly<Record<string, string>>;

/** `bucket`, `region`, `access_key_id`, `secret_access_key`, `session_token`, `endpoint`, `storage_class`, `without_conditional_writes`. */
export const openS3: OpenTransport = (connection, options) => fileTransport(connection, new S3Store(connection, options));

/**
 * Retried although the status is below 500: the connection was too slow, the clock or the credentials were wrong, or the name of a new
 * bucket does not point to its region yet. https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
const RETRIED_CODES = new Set([
  'RequestTimeout',
  'RequestTimeTooSkewed',
  'ExpiredToken',
  'InvalidToken',
  'InvalidAccessKeyId',
  'TemporaryRedirect',
]);
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

class S3Store implements ObjectStore {
  readonly #connection: Connection;
  readonly #http: DriverOptions['http'];
  readonly #credentials: AwsCredentials;
  readonly #base: string;
  #conditional: boolean;
  /** Of the store's clock to ours, milliseconds. */
  #skew = 0;

  constructor(connection: Connection, { http }: DriverOptions) {
    const { bucket = '', region = 'us-east-1', access_key_id = '', secret_access_key = '', session_token, endpoint } = connection;
    this.#connection = connection;
    this.#http = http;
    this.#conditional = connection.without_conditional_writes !== 'true';
    this.#credentials = { access_key_id, secret_access_key, region, service: 's3', ...(session_token ? { session_token } : {}) };
    this.#base = bucketAddress(bucket, region, endpoint);
  }

  async put(object: FileObject, timeout_ms: number): Promise<PutVerdict> {
    const deadline = performance.now() + timeout_ms;
    let verdict: PutVerdict | 'again' = 'again';
    // The second try is for a corrected clock, the third without a condition.
    for (let tries = 0; verdict === 'again' && tries < 3; tries++)
      verdict = await this.#try(object, Math.max(1, deadline - performance.now()));
    return verdict === 'again' ? { kind: 'unavailable', reason: 'the store rejects the condition and the clock' } : verdict;
  }
  url(key: string): string {
    return `s3://${this.#connection.bucket}/${key}`;
  }
  async close(): Promise<void> {}

  async #try(object: FileObject, timeout_ms: number): Promise<PutVerdict | 'again'> {
    if (!this.#conditional) {
      const found = await this.#send('HEAD', object.key, {}, undefined, EMPTY_SHA256, timeout_ms);
      if ('failed' in found) return found.failed;
      if (found.reply.status === 200) return ALREADY_STORED;
      if (found.reply.status !== 404) return this.#failure(found.reply);
    }
    const headers = {
      'Content-Type': object.content_type,
      ...(this.#connection.storage_class ? { 'x-amz-storage-class': this.#connection.storage_class } : {}),
      ...(this.#conditional ? { 'If-None-Match': '*' } : {}),
    };
    const sent = await this.#send('PUT', object.key, headers, object.bytes, object.sha256, timeout_ms);
    if ('failed' in sent) return sent.failed;
    const { reply } = sent;
    const code = xmlText(reply.body, 'Code');
    // A response of 200 may carry an error that happened after it had begun.
    if (reply.status < 300 && !reply.body.includes('<Error>')) return { kind: 'delivered' };
    if (reply.status === 412 && this.#conditional) return ALREADY_STORED;
    if (this.#conditional && (reply.status === 501 || code === 'NotImplemented')) {
      this.#conditional = false;
      return 'again';
    }
    if (code === 'RequestTimeTooSkewed' && this.#correctClock(reply)) return 'again';
    return this.#failure(reply, code);
  }

  #failure(reply: VendorReply, code?: string): PutVerdict {
    const region = reply.headers['x-amz-bucket-region'] ?? xmlText(reply.body, 'Region');
    const hint = region && region !== this.#credentials.region ? ` (the bucket is in ${region})` : '';
    if (reply.status < 300 || (code !== undefined && RETRIED_CODES.has(code)))
      return { kind: 'unavailable', reason: `http_${reply.status}: ${code ?? 'error in the response'}${hint}` };
    return failure(reply, code, this.#http.clock.now(), hint);
  }
  #correctClock(reply: VendorReply): boolean {
    const theirs = Date.parse(reply.headers.date ?? '');
    if (Number.isNaN(theirs)) return false;
    const before = this.#skew;
    this.#skew = theirs - this.#http.clock.now();
    return Math.abs(this.#skew - before) > 60_000;
  }
  #send(method: string, key: string, more: Record<string, string>, body: Uint8Array | undefined, sha256: string, timeout_ms: number) {
    const now = this.#http.clock.now() + this.#skew;
    const url = `${this.#base}/${key.split('/').map(percentEncode).join('/')}`;
    const headers: Record<string, string> = {
      ...more,
      'x-amz-content-sha256': sha256,
      'x-amz-date': `${new Date(now).toISOString().replace(/[-:]/g, '').slice(0, 15)}Z`,
      ...(this.#credentials.session_token ? { 'x-amz-security-token': this.#credentials.session_token } : {}),
    };
    headers.Authorization = authorization({ method, url, headers }, sha256, this.#credentials, now);
    return request(this.#http, { method, url, headers, ...(body ? { body } : {}) }, timeout_ms);
  }
}
