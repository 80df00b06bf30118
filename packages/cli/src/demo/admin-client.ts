import { CommandError } from '../failure.ts';

/** Client for the management API. Signs in again when its token has expired. */
export class AdminClient {
  readonly base: string;
  readonly #email: string;
  readonly #password: string;
  #token: string | undefined;
  constructor(base: string, email: string, password: string) {
    this.base = base;
    this.#email = email;
    this.#password = password;
  }
  get<T>(path: string): Promise<T> {
    return this.#call('GET', path);
  }
  post<T>(path: string, body: unknown): Promise<T> {
    return this.#call('POST', path, body);
  }
  put<T>(path: string, body: unknown): Promise<T> {
    return this.#call('PUT', path, body);
  }
  async #call<T>(method: string, path: string, body?: unknown, again = true): Promise<T> {
    this.#token ??= await this.#signIn();
    const answer = await fetch(`${this.base}/v1/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status === 401 && again) {
      this.#token = undefined;
      return this.#call(method, path, body, false);
    }
    if (!answer.ok) throw new CommandError(`${method} ${path} was refused with ${answer.status}: ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }
  async #signIn(): Promise<string> {
    const answer = await fetch(`${this.base}/v1/admin/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: this.#email, password: this.#password }),
    });
    if (!answer.ok) throw new CommandError(`Signing in as ${this.#email} was refused with ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { access_token: string }).access_token;
  }
}
