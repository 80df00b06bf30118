/**
 * The two error tables. The management API responds `{error: {code, message, details?}}`, the collection endpoints `{error, message}`.
 * Each code, with its status and default message, is defined only here.
 */
import type { CollectionErrorCode } from '@firsthand/core/outcome/outcome.ts';

interface ErrorEntry {
  status: number;
  message: string;
}

export const API_ERRORS = {
  INVALID_JSON: { status: 400, message: 'The body is not valid JSON.' },
  MISSING_FIELD: { status: 400, message: 'A required field is missing.' },
  CONNECT_FAILED: { status: 400, message: 'The vendor account could not be connected. Start again.' },
  INVALID_CREDENTIALS: { status: 401, message: 'The e-mail address or the password is wrong.' },
  INVALID_TOKEN: { status: 401, message: 'A valid access token is required: Authorization: Bearer <access_token>.' },
  EXPIRED_TOKEN: { status: 401, message: 'The access token has expired.' },
  INVALID_REFRESH_TOKEN: { status: 401, message: 'The refresh token is unknown, expired or already used.' },
  ACCOUNT_LOCKED: { status: 401, message: 'Too many failed attempts: this account is locked for a while.' },
  TOTP_REQUIRED: { status: 401, message: 'Two-step sign-in is on: send totp_code or recovery_code too.' },
  OIDC_FAILED: { status: 401, message: 'Sign-in through the identity provider failed. Start again, or ask an administrator.' },
  INVALID_PIPELINE_KEY: { status: 401, message: 'This is a pipeline key; the management API needs an access token.' },
  FORBIDDEN: { status: 403, message: 'Your role does not allow this.' },
  NOT_FOUND: { status: 404, message: 'There is no such resource in this organisation.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not support that method.' },
  DUPLICATE_RESOURCE: { status: 409, message: 'Such a resource already exists.' },
  CONFLICT: { status: 409, message: 'The current state of the resource does not allow this.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is larger than the limit.' },
  VALIDATION_ERROR: { status: 422, message: 'The request is not valid.' },
  UPGRADE_REQUIRED: { status: 426, message: 'This endpoint accepts only WebSocket connections.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests: try again later.' },
  INTERNAL_ERROR: { status: 500, message: 'Something went wrong on our side.' },
  UNAVAILABLE: { status: 503, message: 'The configuration store cannot be reached: try again soon.' },
} as const satisfies Record<string, ErrorEntry>;
export type ApiErrorCode = keyof typeof API_ERRORS;

export const COLLECTION_ERRORS = {
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  missing_field: { status: 400, message: 'A required field is missing.' },
  validation_failed: { status: 400, message: 'The event is not valid.' },
  invalid_pipeline_key: { status: 401, message: 'The pipeline key is missing, unknown or revoked.' },
  pipeline_disabled: { status: 401, message: 'This pipeline is disabled.' },
  invalid_signature: { status: 401, message: 'The request signature is missing, wrong or too old.' },
  invalid_challenge_token: { status: 401, message: 'The challenge token is missing, wrong or expired.' },
  origin_not_allowed: { status: 403, message: "This origin is not on the pipeline's domain allowlist." },
  ip_not_allowed: { status: 403, message: "This address is not on the pipeline's IP allowlist." },
  not_found: { status: 404, message: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, message: 'This path does not support that method.' },
  payload_too_large: { status: 413, message: 'The payload is larger than the limit: split it.' },
  rate_limited: { status: 429, message: 'Too many events for this pipeline key: retry later.' },
  internal_error: { status: 500, message: 'Something went wrong on our side: retry later.' },
  overloaded: { status: 503, message: 'The service cannot accept this event now: retry later.' },
} as const satisfies Record<CollectionErrorCode, ErrorEntry>;
export type { CollectionErrorCode };

export interface FieldFault {
  /** Path of the fault in the request, such as `config.events.Order Completed.mappings[2]`; empty for the whole body. */
  field: string;
  message: string;
}
interface ApiErrorOptions extends ErrorOptions {
  /** Overrides the table's message. Must not contain anything that the user did not send or may not see. */
  message?: string;
  details?: FieldFault[];
  retryAfterS?: number;
  headers?: Record<string, string>;
}

/** An expected error, thrown from anywhere below a route and rendered by the error handler. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly details: FieldFault[] | undefined;
  readonly headers: Record<string, string>;
  constructor(code: ApiErrorCode, options: ApiErrorOptions = {}) {
    super(options.message ?? API_ERRORS[code].message, options);
    this.code = code;
    this.status = API_ERRORS[code].status;
    this.details = options.details?.slice(0, MAX_DETAILS);
    this.headers = { ...options.headers };
    // HTTP requires a challenge with every 401.
    if (this.status === 401) this.headers['www-authenticate'] ??= 'Bearer';
    if (options.retryAfterS !== undefined) this.headers['retry-after'] = String(Math.max(1, Math.ceil(options.retryAfterS)));
  }
}
export const MAX_DETAILS = 20;

export function invalid(field: string, message: string): ApiError {
  return invalidFields([{ field, message }]);
}
/** A 422 with its faults. The message names the first one, so that a log line or toast is enough to act on. */
export function invalidFields(details: FieldFault[]): ApiError {
  return new ApiError('VALIDATION_ERROR', { message: sentence(details), details });
}
/** `others`: any of them would do instead. */
export function missing(field: string, ...others: string[]): ApiError {
  const details = [{ field, message: [...others.map((other) => `or ${other}`), 'is required'].join(' ') }];
  return new ApiError('MISSING_FIELD', { message: sentence(details), details });
}
export function sentence(details: FieldFault[]): string {
  const [first] = details;
  if (first === undefined) return API_ERRORS.VALIDATION_ERROR.message;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  const subject = first.field === '' ? 'The body' : first.field;
  // A fault either continues its field ("is required") or is a full sentence ("There is no transform …").
  const own = /^[A-Z]/.test(first.message);
  return `${subject}${own ? ':' : ''} ${first.message.replace(/\.$/, '')}${more}.`;
}

export interface ApiErrorBody {
  error: { code: ApiErrorCode; message: string; details?: FieldFault[] };
}
export function apiErrorBody(error: ApiError): ApiErrorBody {
  return { error: { code: error.code, message: error.message, ...(error.details === undefined ? {} : { details: error.details }) } };
}
