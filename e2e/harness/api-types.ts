/**
 * Matches addresses such as `/pipelines/${id}/integrations?limit=5` against the paths of the generated client, so that the compiler checks
 * addresses, request bodies and responses.
 */
import type { paths } from '@firsthand/console/generated/api.d.ts';

// Free-form parts of a schema (a canonical event, a vendor's config) are read by field name, unchecked.
export type Loose = ReturnType<typeof JSON.parse>;

type Method = 'get' | 'post' | 'put' | 'delete';
type Admin = Extract<keyof paths, `/v1/admin${string}`>;
/** The paths that support the method. */
type PathsOf<M extends Method> = { [K in Admin]: paths[K] extends Record<M, { responses: unknown }> ? K : never }[Admin];
type WithoutQuery<P extends string> = P extends `${infer Path}?${string}` ? Path : P;

/** Whether the address matches the path, segment by segment; `{…}` matches any segment. */
type Fits<P extends string, K extends string> = K extends `${infer Word}/${infer Rest}`
  ? P extends `${infer Part}/${infer More}`
    ? FitsWord<Part, Word> extends true
      ? Fits<More, Rest>
      : false
    : false
  : P extends `${string}/${string}`
    ? false
    : FitsWord<P, K>;
type FitsWord<Part extends string, Word extends string> = Word extends `{${string}}` ? true : Part extends Word ? true : false;
/** A literal segment (`/users/me`) takes precedence over a parameter. */
type Matching<M extends Method, P extends string> =
  Literal<P, PathsOf<M>> extends never
    ? { [K in PathsOf<M>]: Fits<`/v1/admin${WithoutQuery<P>}`, K> extends true ? K : never }[PathsOf<M>]
    : Literal<P, PathsOf<M>>;
type Literal<P extends string, K extends string> = Extract<`/v1/admin${WithoutQuery<P>}`, K>;

/** The address if a path matches it, else `never`. */
export type Address<M extends Method, P extends string> = [Matching<M, P>] extends [never] ? never : P;

type Operation<M extends Method, P extends string> = paths[Matching<M, P>] extends Record<M, infer O> ? O : never;
type JsonOf<Content> = Content extends { 'application/json': infer Body } ? Body : never;
type Responses<O> = O extends { responses: infer R } ? R : never;
type Good<R> = JsonOf<R extends { content?: infer C } ? C : never>;

export type Answer<M extends Method, P extends string> = Open<
  { [S in 200 | 201 | 202]: Responses<Operation<M, P>> extends Record<S, infer R> ? Good<R> : never }[200 | 201 | 202]
>;
export type Body<M extends Method, P extends string> =
  Operation<M, P> extends { requestBody: { content: infer C } } ? JsonOf<C> : undefined;

/** Replaces every `unknown`, so that its fields can be read. */
export type Open<T> = unknown extends T
  ? Loose
  : T extends readonly (infer Item)[]
    ? Open<Item>[]
    : T extends object
      ? { [K in keyof T]: Open<T[K]> }
      : T;
