/** The whole API, typed from the service's own OpenAPI document: paths, bodies, queries and answers are checked by the compiler. */
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './generated/api.d.ts';

export type ApiClient = Client<paths>;
export type ApiErrorBody = components['schemas']['Error'];

export interface ApiClientOptions {
  /** Where the service is; the page's own origin where it is left out. */
  baseUrl?: string;
  /** Called before each request, so that a refreshed token is used at once. */
  accessToken?: () => string | undefined;
}

export function createApiClient({ baseUrl, accessToken }: ApiClientOptions = {}): ApiClient {
  const client = createClient<paths>(baseUrl === undefined ? {} : { baseUrl });
  client.use({
    onRequest({ request }) {
      const token = accessToken?.();
      if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
      return request;
    },
  });
  return client;
}

/** A refusal as an exception, for callers that have nothing to say about it themselves. */
export class RefusedError extends Error {
  readonly code: string;
  readonly details: readonly { field: string; message: string }[];
  /** `Retry-After` in seconds, if the service sent it. */
  readonly retryAfterS: number | undefined;
  constructor({ error }: ApiErrorBody, retryAfterS?: number) {
    super(error.message);
    this.name = 'RefusedError';
    this.code = error.code;
    this.details = error.details ?? [];
    this.retryAfterS = retryAfterS;
  }
}

/** The answer's data, or the refusal thrown. */
export async function answered<T>(answer: Promise<{ data?: T; error?: ApiErrorBody }>): Promise<T> {
  const { data, error } = await answer;
  if (error !== undefined) throw new RefusedError(error);
  return data as T;
}
