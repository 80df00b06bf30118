/** The driver of every file target: encodes a batch, names it by its content and has the target store it. */
import { hash } from 'node:crypto';
import { errorText } from '../../runtime/error-text.ts';
import { jsonBytes } from '../json-bytes.ts';
import type { Transport } from '../port.ts';
import { openEncoder } from './encoder.ts';
import { COMPRESSIONS, type Compression, type EncodedObject, type EncodingOptions, FORMATS, type Format } from './encoding.ts';
import type { FileObject, ObjectStore } from './store.ts';

const CONTENT_TYPES: Record<Format, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};
/** A compressed file keeps its compression on download, so its type is that of the compression. */
const COMPRESSED_TYPES: Partial<Record<Compression, string>> = { gzip: 'application/gzip', zstd: 'application/zstd' };
const EXTENSIONS: Partial<Record<Compression, string>> = { gzip: '.gz', zstd: '.zst' };

/** `format`, `compression`, `flatten` and `manifest` are the same for every target. */
export function fileTransport(connection: Readonly<Record<string, string>>, store: ObjectStore): Transport {
  const options = encodingOf(connection);
  const encoder = openEncoder();
  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      const left = () => Math.max(1, deadline - performance.now());
      let object: EncodedObject;
      try {
        object = await encoder.encode(records.map(jsonBytes), options);
      } catch (error) {
        return { kind: 'unavailable', reason: `the file cannot be encoded: ${errorText(error)}` };
      }
      const folder = records[0]?.target ?? '';
      const file = fileOf(folder, object, options);
      const stored = await store.put(file, left());
      if (stored.kind !== 'delivered' || connection.manifest !== 'true') return stored;
      const manifest = await store.put(manifestOf(folder, file, object, store.url(file.key)), left());
      return manifest.kind === 'delivered' ? stored : manifest;
    },
    async close() {
      await Promise.all([store.close(), encoder.close()]);
    },
  };
}

function encodingOf({ format = 'ndjson', compression = 'none', flatten }: Readonly<Record<string, string>>): EncodingOptions {
  const known = FORMATS.find((one) => one === format);
  const packed = COMPRESSIONS.find((one) => one === compression);
  if (known === undefined) throw new Error(`unknown format ${format}: use ${FORMATS.join(', ')}`);
  if (packed === undefined) throw new Error(`unknown compression ${compression}: use ${COMPRESSIONS.join(', ')}`);
  // Snappy is the usual compression of Parquet pages; other readers do not expect a file in it.
  return { format: known, compression: packed === 'snappy' && known !== 'parquet' ? 'gzip' : packed, flatten: flatten === 'true' };
}

function fileOf(folder: string, object: EncodedObject, { format, compression }: EncodingOptions): FileObject {
  const outside = format === 'parquet' ? 'none' : compression;
  return {
    key: `${folder}${object.content_hash}.${format}${EXTENSIONS[outside] ?? ''}`,
    bytes: object.bytes,
    content_type: COMPRESSED_TYPES[outside] ?? CONTENT_TYPES[format],
    sha256: object.sha256,
    md5: object.md5,
  };
}

/** The form that Redshift's COPY reads. The leading underscore hides it from engines that read a whole folder. */
function manifestOf(folder: string, file: FileObject, object: EncodedObject, url: string): FileObject {
  const entry = { url, mandatory: true, meta: { content_length: file.bytes.length, record_count: object.rows } };
  const bytes = Buffer.from(`${JSON.stringify({ entries: [entry], sha256: file.sha256 }, null, 2)}\n`);
  return {
    key: `${folder}_manifest-${object.content_hash}.json`,
    bytes,
    content_type: 'application/json',
    sha256: hash('sha256', bytes, 'hex'),
    md5: hash('md5', bytes, 'base64'),
  };
}
