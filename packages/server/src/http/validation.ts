import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { ApiError, type FieldFault, MAX_DETAILS, sentence } from './errors.ts';

/** Validation never removes, defaults or coerces values. Only queries, which are all text, are coerced to their schema's types. */
const SHARED = {
  allErrors: true,
  verbose: true,
  strict: false,
  strictNumbers: true,
  useDefaults: false,
  removeAdditional: false,
  ownProperties: true,
  // The schemas are ours and a test checks them. Checking them here would compile the meta-schema in somebody's first request: 50 ms.
  validateSchema: false,
} as const;
/** Characters as JSON: the schemas of pipelines, integrations and the data layer. */
const VERY_LARGE_SCHEMA = 3_000;
const strictAjv = withFormats(new Ajv({ ...SHARED, coerceTypes: false }));
const queryAjv = withFormats(new Ajv({ ...SHARED, coerceTypes: true }));

function withFormats(ajv: Ajv): Ajv {
  type Plugin = (ajv: Ajv) => Ajv;
  const plugin = formats as unknown as Plugin & { default?: Plugin }; // CommonJS: the loader decides which of the two it is
  return (plugin.default ?? plugin)(ajv);
}

/**
 * Compiles a route's schema on its first request: compiling all of them takes a fifth of the start, and most are rarely used. A very large one
 * is compiled at the start, because it takes 40 to 60 ms.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const compile = () => (httpPart === 'querystring' ? compileQuery(schema) : strictAjv.compile(schema));
  return JSON.stringify(schema).length > VERY_LARGE_SCHEMA ? compile() : onFirstUse(compile);
};

function onFirstUse(compile: () => ValidateFunction): ValidateFunction {
  let validate: ValidateFunction | undefined;
  const lazy = (value: unknown): boolean => {
    validate ??= compile();
    const isValid = validate(value) as boolean;
    lazy.errors = validate.errors;
    return isValid;
  };
  lazy.errors = undefined as ValidateFunction['errors'];
  return lazy as ValidateFunction;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;
const isNumber = (text: string) => DECIMAL.test(text) && Number.isFinite(Number(text));
/**
 * Coercion accepts whatever JavaScript reads as a number: blanks (0) and `0x10`, which were meant differently, and very long digit
 * strings, which become Infinity and pass every bound.
 */
function compileQuery(schema: TSchema): ValidateFunction {
  const validate = queryAjv.compile(schema);
  const properties = Object.entries((schema as { properties?: Record<string, { type?: string }> }).properties ?? {});
  const numbers = properties.filter(([, { type }]) => type === 'integer' || type === 'number').map(([name]) => name);
  const checked = (query: Record<string, unknown>): boolean => {
    for (const name of numbers) if (typeof query[name] === 'string' && !isNumber(query[name])) query[name] = Number.NaN;
    const isValid = validate(query);
    checked.errors = validate.errors;
    return isValid;
  };
  checked.errors = validate.errors;
  return checked as ValidateFunction;
}

export function compileStrict(schema: TSchema): ValidateFunction {
  return strictAjv.compile(schema);
}

/** A missing top-level field of the body is 400; any invalid value is 422. */
export function validationError(errors: readonly ErrorObject[], part: string | undefined): ApiError {
  const faults = faultsOf(errors);
  const absent = part === 'body' ? errors.find((error) => error.keyword === 'required' && error.instancePath === '') : undefined;
  if (absent === undefined) return new ApiError('VALIDATION_ERROR', { message: sentence(faults), details: faults });
  const ordered = [...faultsOf([absent]), ...faults.filter((fault) => fault.field !== absent.params.missingProperty)];
  return new ApiError('MISSING_FIELD', { message: sentence(ordered), details: ordered });
}

export function faultsOf(errors: readonly ErrorObject[]): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  for (const error of errors) {
    const fault = faultOf(error);
    // One fault per field: the first is the clearest.
    if (!faults.has(fault.field)) faults.set(fault.field, fault);
    if (faults.size >= MAX_DETAILS) break;
  }
  return [...faults.values()];
}

function faultOf(error: ErrorObject): FieldFault {
  const path = pathOf(error.instancePath);
  const below = (key: string) => (path === '' ? key : `${path}.${key}`);
  const own = (error.parentSchema as Record<string, unknown> | undefined)?.['x-fault'];
  switch (error.keyword) {
    case 'required':
      return { field: below(String(error.params.missingProperty)), message: 'is required' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        field: below(String(error.params.additionalProperty ?? error.params.unevaluatedProperty)),
        message: error.parentSchema?.patternProperties === undefined ? 'is not a known field' : 'is not a valid name',
      };
    case 'propertyNames':
      return { field: below(String(error.params.propertyName)), message: 'is not a valid name' };
    case 'type':
      return { field: path, message: `must be ${typeWords(error.params.type)}` };
    case 'enum':
      return { field: path, message: `must be one of ${(error.params.allowedValues as unknown[]).map(String).join(', ')}` };
    case 'const':
      return { field: path, message: `must be ${JSON.stringify(error.params.allowedValue)}` };
    default:
      return { field: path, message: typeof own === 'string' ? own : (plainWords(error) ?? error.message ?? 'is not valid') };
  }
}

/** Limits and times. Ajv's own words are `must NOT have fewer than 1 items` and `must match format "date-time"`. */
function plainWords({ keyword, params }: ErrorObject): string | undefined {
  const limit = Number(params.limit);
  const unit = (one: string, many: string) => `${limit} ${limit === 1 ? one : many}`;
  switch (keyword) {
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      if (limit === 1) return 'must not be empty';
      return `must have at least ${keyword === 'minLength' ? unit('character', 'characters') : unit('entry', 'entries')}`;
    case 'maxLength':
      return `must have at most ${unit('character', 'characters')}`;
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${unit('entry', 'entries')}`;
    case 'format':
      return params.format === 'date-time' ? 'must be an ISO 8601 time with a zone, such as 2026-05-01T12:00:00Z' : undefined;
    case 'uniqueItems':
      return 'must not have the same entry twice';
    default:
      return undefined;
  }
}

function typeWords(type: unknown): string {
  const names = (Array.isArray(type) ? type : [type]).map(String);
  return names
    .map((name) => ({ integer: 'a whole number', object: 'an object', array: 'a list', null: 'null' })[name] ?? `a ${name}`)
    .join(' or ');
}

/** `/events/Order Completed/mappings/2` as `events.Order Completed.mappings[2]`. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');
}
