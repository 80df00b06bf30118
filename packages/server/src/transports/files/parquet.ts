/** Parquet with one row group per file. JSON columns carry the JSON annotation, times are UTC with milliseconds. */
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type Column, type ColumnType, cellText } from './columns.ts';
import type { Compression } from './encoding.ts';

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const CODECS = { none: 'UNCOMPRESSED', snappy: 'SNAPPY', gzip: 'GZIP', zstd: 'ZSTD' } as const;
const ELEMENTS: Record<ColumnType, Omit<SchemaElement, 'name'>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  // Written as text, because the library would make JSON of it once more; `JSON_ELEMENT` is what the file says.
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  timestamp: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } },
};

const JSON_ELEMENT: Omit<SchemaElement, 'name'> = { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } };

export function toParquet(columns: readonly Column[], rows: number, compression: Compression): Uint8Array {
  const writer = new ByteWriter(1 << 20);
  const elements = columns.map(({ name, type }): SchemaElement => ({ ...ELEMENTS[type], name, repetition_type: 'OPTIONAL' }));
  const schema: SchemaElement[] = [{ name: 'root', num_children: columns.length }, ...elements];
  const parquet = new ParquetWriter({
    writer,
    schema,
    codec: CODECS[compression],
    compressors: { GZIP: (bytes) => gzipSync(bytes), ZSTD: (bytes) => zstdCompressSync(bytes) },
  });
  // Made when the library comes to the column: the cells of a thousand columns do not fit in the thread's memory together.
  const columnData = columns.map((column) => ({
    name: column.name,
    get data() {
      return column.values.map((value) => cellOf(value, column.type));
    },
  }));
  // The byte writer of this package is synchronous, so neither call returns a promise.
  void parquet.write({ columnData, rowGroupSize: rows });
  for (const [index, { type }] of columns.entries()) if (type === 'json') Object.assign(elements[index] ?? {}, JSON_ELEMENT);
  void parquet.finish();
  return writer.getBytes();
}

function cellOf(value: Column['values'][number], type: ColumnType): unknown {
  if (value === null || value === undefined) return undefined;
  switch (type) {
    case 'integer':
      return BigInt(value as number);
    case 'timestamp':
      return new Date(value as string);
    case 'text':
    case 'json':
      return cellText(value, type);
    case 'number':
    case 'boolean':
      return value;
  }
}
