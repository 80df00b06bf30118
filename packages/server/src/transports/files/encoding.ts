/** A finished object from JSON lines. Synchronous and heavy: runs in the encoder thread. */
import { createHash, hash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { JsonObject } from '@firsthand/core/json.ts';
import { shallowFields } from '@firsthand/core/shallow-json.ts';
import type { Row } from './columns.ts';

export const FORMATS = ['ndjson', 'csv', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];
export const COMPRESSIONS = ['none', 'gzip', 'zstd', 'snappy'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

export interface EncodingOptions {
  format: Format;
  /** For Parquet the compression of its pages; snappy exists only there. */
  compression: Compression;
  /** CSV and Parquet: a column per property. */
  flatten: boolean;
}
export interface EncodedObject {
  bytes: Uint8Array<ArrayBuffer>;
  rows: number;
  /** SHA-256 of the rows and the layout, in hex. Does not depend on the compressor, whose output may change with its version. */
  content_hash: string;
  /** Of the bytes: SHA-256 in hex and MD5 in base64, for signatures and integrity checks. */
  sha256: string;
  md5: string;
}

/** `ndjson`: one line per row, each with its line feed. */
export async function encodeObject(ndjson: Uint8Array, rows: number, options: EncodingOptions): Promise<EncodedObject> {
  const { format, flatten } = options;
  const content = createHash('sha256').update(`${format} ${flatten}\n`).update(ndjson);
  const bytes = format === 'ndjson' ? compressed(ndjson, options.compression) : await tableOf(ndjson, options);
  return {
    bytes: withOwnMemory(bytes),
    rows,
    content_hash: content.digest('hex'),
    sha256: hash('sha256', bytes, 'hex'),
    md5: hash('md5', bytes, 'base64'),
  };
}

async function tableOf(ndjson: Uint8Array, { format, compression, flatten }: EncodingOptions): Promise<Uint8Array> {
  const { columnsOf } = await import('./columns.ts');
  const rows = parsedLines(ndjson);
  const columns = columnsOf(rows, flatten);
  if (format === 'parquet') return (await import('./parquet.ts')).toParquet(columns, rows.length, compression);
  return compressed(Buffer.from((await import('./csv.ts')).toCsv(columns, rows.length)), compression);
}
/** Line by line, without the text of the whole file. */
function parsedLines(ndjson: Uint8Array): Row[] {
  const bytes = Buffer.from(ndjson.buffer, ndjson.byteOffset, ndjson.byteLength);
  const rows: Row[] = [];
  for (let from = 0, end = bytes.indexOf('\n'); end >= 0; from = end + 1, end = bytes.indexOf('\n', from))
    rows.push(rowOf(bytes.toString('utf8', from, end)));
  return rows;
}

function rowOf(line: string): Row {
  const fields = shallowFields(line);
  return fields ? Object.fromEntries(fields) : (JSON.parse(line) as JsonObject);
}

function compressed(bytes: Uint8Array, compression: Compression): Uint8Array {
  if (compression === 'gzip') return gzipSync(bytes);
  return compression === 'zstd' ? zstdCompressSync(bytes) : bytes;
}

/** The bytes are handed to another thread together with their buffer, so it must contain nothing else. */
function withOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes);
}
