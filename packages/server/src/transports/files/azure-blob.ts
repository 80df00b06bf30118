/** Azure Blob Storage. `If-None-Match: *` makes the write create-only: 409 `BlobAlreadyExists` means that it is already there. */
import { azureBlobSigner } from '@firsthand/core/vendor/azure.ts';
import { percentEncode } from '@firsthand/core/vendor/sigv4.ts';
import type { DriverOptions, OpenTransport } from '../port.ts';
import { fileTransport } from './file-transport.ts';
import { failure, request, xmlText } from './http-verdict.ts';
import { ALREADY_STORED, type FileObject, type ObjectStore, type PutVerdict } from './store.ts';

type Connection = Readonly<Record<string, string>>;

/** `account`, `container`, `authentication` (`account_key`, `sas`), `account_key`, `sas_token`, `endpoint`. */
export const openAzureBlob: OpenTransport = (connection, options) => fileTransport(connection, new AzureBlobStore(connection, options));

const VERSION = '2021-12-02';

class AzureBlobStore implements ObjectStore {
  readonly #http: DriverOptions['http'];
  readonly #base: string;
  /** Appended to every address. */
  readonly #sas: string;
  readonly #sign: ReturnType<typeof azureBlobSigner> | undefined;

  constructor(
    { account = '', container = '', authentication, account_key = '', sas_token = '', endpoint }: Connection,
    { http }: DriverOptions,
  ) {
    this.#http = http;
    this.#base = `${endpoint ? endpoint.replace(/(?<!\/)\/+$/, '') : `https://${account}.blob.core.windows.net`}/${container}`;
    const sas = authentication === 'sas';
    this.#sas = sas ? `?${sas_token.replace(/^\?/, '')}` : '';
    this.#sign = sas ? undefined : azureBlobSigner(account, account_key);
  }

  async put({ key, bytes, content_type, md5 }: FileObject, timeout_ms: number): Promise<PutVerdict> {
    const now = this.#http.clock.now();
    const headers: Record<string, string> = {
      'x-ms-blob-type': 'BlockBlob',
      'x-ms-version': VERSION,
      'Content-Type': content_type,
      'Content-MD5': md5,
      'If-None-Match': '*',
    };
    const built = { method: 'PUT', url: this.#urlOf(key) + this.#sas, headers, body: bytes };
    this.#sign?.(built, { now, attempt: 1, request_id: '' });
    const sent = await request(this.#http, built, timeout_ms);
    if ('failed' in sent) return sent.failed;
    const { reply } = sent;
    if (reply.status < 300) return { kind: 'delivered' };
    const code = reply.headers['x-ms-error-code'] ?? xmlText(reply.body, 'Code');
    if (reply.status === 412 || code === 'BlobAlreadyExists') return ALREADY_STORED;
    // With 400 too: the key or the SAS is malformed, and a person can correct it.
    if (code === 'InvalidAuthenticationInfo') return { kind: 'unavailable', reason: `http_${reply.status}: ${code}` };
    return failure(reply, code, now);
  }
  url(key: string): string {
    return this.#urlOf(key);
  }
  async close(): Promise<void> {}

  #urlOf(key: string): string {
    return `${this.#base}/${key.split('/').map(percentEncode).join('/')}`;
  }
}
