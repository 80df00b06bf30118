/** What each destination calls its types, which names it accepts, and its limits. */
import type { AddedType, Column, ColumnType } from './columns.ts';
import type { NameRules } from './names.ts';

export interface Dialect {
  /** The type of an added column. */
  types: Record<AddedType, string>;
  /** How types that the destination reports are treated; the first match decides. A group holds the length of a text. */
  reads: readonly (readonly [RegExp, ColumnType])[];
  columns: NameRules;
  tables: NameRules;
  quote: '"' | '`';
  /** Most columns of a table. */
  max_columns: number;
  /** Characters of a key; longer ones end with a hash of the whole. */
  max_key: number;
  /** Longer texts are cut. */
  max_text_bytes?: number;
  /** Instants outside of these years are no timestamps for the destination. */
  years: readonly [number, number];
  /** `iso`: `2026-01-02T03:04:05.000Z`. `plain`: `2026-01-02 03:04:05.000`, for columns without a zone. Always UTC. */
  timestamps: 'iso' | 'plain';
}

const PG_SYSTEM = /^(?:tableoid|xmin|cmin|xmax|cmax|ctid)$/;
/** Leading digits are fine inside quotes everywhere below. */
const same = (rules: NameRules): Pick<Dialect, 'columns' | 'tables'> => ({ columns: rules, tables: rules });

export const POSTGRESQL: Dialect = {
  types: { boolean: 'boolean', number: 'double precision', timestamp: 'timestamptz', text: 'text', json: 'jsonb' },
  reads: [
    [/^(?:text|character varying|varchar|character|citext)(?:\((\d+)\))?$/, 'text'],
    [/^boolean$/, 'boolean'],
    [/^(?:bigint|integer|smallint)$/, 'integer'],
    [/^(?:double precision|real|numeric)/, 'number'],
    [/^timestamp/, 'timestamp'],
    [/^jsonb?$/, 'json'],
  ],
  ...same({ max: 63, unit: 'bytes', insensitive: false, refused: PG_SYSTEM }),
  quote: '"',
  max_key: 600,
  max_columns: 1_600,
  years: [1, 9999],
  timestamps: 'iso',
};

export const REDSHIFT: Dialect = {
  types: { boolean: 'boolean', number: 'double precision', timestamp: 'timestamptz', text: 'varchar(65535)', json: 'super' },
  reads: [[/^super$/, 'json'], [/^(?:char|bpchar|varchar|character varying|text)(?:\((\d+)\))?$/, 'text'], ...POSTGRESQL.reads],
  ...same({ max: 127, unit: 'bytes', fold: 'lower', insensitive: true, refused: /^(?:oid|tableoid|xmin|cmin|xmax|cmax|ctid)$/ }),
  quote: '"',
  max_key: 255,
  max_columns: 1_600,
  max_text_bytes: 65_535,
  years: [1, 9999],
  timestamps: 'iso',
};

export const MYSQL: Dialect = {
  // MariaDB's JSON type is a longtext with a check, which would refuse a later value that is no JSON.
  types: { boolean: 'tinyint(1)', number: 'double', timestamp: 'datetime(3)', text: 'longtext', json: 'longtext' },
  reads: [
    [/^tinyint\(1\)$/, 'boolean'],
    [/^(?:(?:tiny|medium|long)?text|(?:var)?char\((\d+)\))$/, 'text'],
    [/^json$/, 'json'],
    [/^(?:tiny|small|medium|big)?int/, 'integer'],
    [/^(?:double|float|decimal)/, 'number'],
    [/^(?:datetime|timestamp)/, 'timestamp'],
  ],
  columns: { max: 64, unit: 'characters', insensitive: true, replaced: /[\u{10000}-\u{10ffff}]|(?<! ) +$/gu },
  tables: { max: 64, unit: 'characters', fold: 'lower', insensitive: true, replaced: /[\u{10000}-\u{10ffff}/\\.]|(?<! ) +$/gu },
  quote: '`',
  // InnoDB's limit is 1,017; the row's own 65,535 bytes are reached earlier with other types than these.
  max_key: 255,
  max_columns: 1_000,
  years: [1000, 9999],
  timestamps: 'plain',
};

export const CLICKHOUSE: Dialect = {
  types: {
    boolean: 'Nullable(Bool)',
    number: 'Nullable(Float64)',
    timestamp: "Nullable(DateTime64(3, 'UTC'))",
    text: 'Nullable(String)',
    json: 'Nullable(String)',
  },
  reads: [
    [/^(?:LowCardinality\()?(?:Nullable\()?String\)*$/, 'text'],
    [/^(?:Nullable\()?Bool\)?$/, 'boolean'],
    [/^(?:Nullable\()?(?:Float|Decimal)/, 'number'],
    [/^(?:Nullable\()?U?Int\d/, 'integer'],
    [/^(?:Nullable\()?DateTime/, 'timestamp'],
    [/^JSON/, 'json'],
  ],
  ...same({ max: 200, unit: 'bytes', insensitive: false }),
  quote: '`',
  max_key: 10_000,
  max_columns: 1_000,
  years: [1900, 2299],
  timestamps: 'plain',
};

const BIGQUERY_REFUSED =
  /^(?:_table_|_file_|_partition|_row_timestamp|__root__|_colidentifier|_change_(?:sequence_number|type|timestamp))/i;
export const BIGQUERY: Dialect = {
  types: { boolean: 'BOOLEAN', number: 'FLOAT', timestamp: 'TIMESTAMP', text: 'STRING', json: 'JSON' },
  reads: [
    [/^STRING(?:\((\d+)\))?$/, 'text'],
    [/^BOOL/, 'boolean'],
    [/^INT/, 'integer'],
    [/^(?:FLOAT|NUMERIC|BIGNUMERIC)/, 'number'],
    [/^TIMESTAMP$/, 'timestamp'],
    [/^JSON$/, 'json'],
  ],
  columns: { max: 300, unit: 'characters', insensitive: true, replaced: /[^A-Za-z0-9_]|^(?=\d)/g, refused: BIGQUERY_REFUSED },
  tables: { max: 1_024, unit: 'bytes', insensitive: false, replaced: /[^\p{L}\p{M}\p{N}_-]/gu },
  quote: '`',
  max_key: 10_000,
  max_columns: 10_000,
  years: [1, 9999],
  timestamps: 'iso',
};

export const SNOWFLAKE: Dialect = {
  types: { boolean: 'BOOLEAN', number: 'FLOAT', timestamp: 'TIMESTAMP_TZ', text: 'VARCHAR', json: 'VARIANT' },
  reads: [
    [/^(?:TEXT|VARCHAR|STRING|CHAR)(?:\((\d+)\))?/, 'text'],
    [/^BOOLEAN/, 'boolean'],
    [/^(?:NUMBER|FIXED)(?:\(\d+,0\))?$/, 'integer'],
    [/^(?:FLOAT|REAL|DOUBLE|NUMBER|FIXED)/, 'number'],
    [/^TIMESTAMP/, 'timestamp'],
    [/^(?:VARIANT|OBJECT)/, 'json'],
  ],
  ...same({ max: 255, unit: 'characters', fold: 'upper', insensitive: true }),
  quote: '"',
  max_key: 10_000,
  max_columns: 2_000,
  max_text_bytes: 16_777_216,
  years: [1, 9999],
  timestamps: 'iso',
};

export const DATABRICKS: Dialect = {
  types: { boolean: 'BOOLEAN', number: 'DOUBLE', timestamp: 'TIMESTAMP', text: 'STRING', json: 'STRING' },
  reads: [
    [/^(?:STRING|(?:VAR)?CHAR\((\d+)\))$/i, 'text'],
    [/^BOOLEAN$/i, 'boolean'],
    [/^(?:BIGINT|LONG|INT|SMALLINT|TINYINT)$/i, 'integer'],
    [/^(?:DOUBLE|FLOAT|DECIMAL)/i, 'number'],
    [/^TIMESTAMP/i, 'timestamp'],
  ],
  ...same({ max: 255, unit: 'characters', fold: 'lower', insensitive: true, replaced: /[ ,;{}()\n\t=./\x00-\x1f\x7f]/g }),
  quote: '`',
  max_key: 10_000,
  max_columns: 2_000,
  years: [1, 9999],
  timestamps: 'iso',
};

/** Bits of integer types; others have 64. A double holds no larger integer than 2^53 exactly. */
const BITS: Record<string, number> = { tinyint: 8, smallint: 16, int2: 16, mediumint: 24, int: 32, integer: 32, int4: 32 };

function largestInteger(sql: string): number {
  const bits = BITS[sql.toLowerCase().replace(/\(.*/, '')] ?? Number(/Int(\d+)/.exec(sql)?.[1] ?? 64);
  return bits > 53 ? Number.MAX_SAFE_INTEGER : 2 ** (bits - 1) - 1;
}

/** A column as the destination describes it. */
export function readColumn(name: string, sql: string, { reads, max_text_bytes = Number.POSITIVE_INFINITY }: Dialect): Column {
  for (const [pattern, type] of reads) {
    const match = pattern.exec(sql);
    if (!match) continue;
    const max = type === 'integer' ? largestInteger(sql) : Number(match[1] ?? Number.NaN);
    return { name, type, sql, ...(Number.isNaN(max) || (type === 'text' && max >= max_text_bytes) ? {} : { max }) };
  }
  return { name, type: 'other', sql };
}

export function quoted(name: string, { quote }: Dialect): string {
  return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
}

export function timestampText(ms: number, { timestamps }: Dialect): string {
  const iso = new Date(ms).toISOString();
  return timestamps === 'iso' ? iso : `${iso.slice(0, 10)} ${iso.slice(11, 23)}`;
}
