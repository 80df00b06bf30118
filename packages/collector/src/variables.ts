/** Adds values of the page to every event. Values of the call win. */
import { attempt, cookie, page } from './page.ts';
import type { WireEvent } from './types.ts';

const walk = (from: unknown, path: string[]): unknown =>
  path.reduce((value: unknown, name) => (value == null ? undefined : (value as Record<string, unknown>)[name]), from);

const READ = {
  // The newest entry with the path wins.
  d: (path: string[]) =>
    ((page.dataLayer || []) as unknown[])
      .map((entry) => attempt(() => walk(entry, path)))
      .filter((value) => value !== undefined)
      .pop(),
  j: (path: string[]) => walk(page, path),
  c: (path: string) => decodeURIComponent(cookie(path) || ''),
  q: (path: string) => new URLSearchParams(location.search).get(path),
  m: (path: string) =>
    Array.from(document.querySelectorAll('meta')).find((meta) => (meta.name || meta.getAttribute('property')) === path)?.content,
  s: (path: string) => {
    const element = document.querySelector(path) as HTMLInputElement | null;
    return element && (element.value || (element.textContent || '').trim());
  },
};

export const addVariables = (event: WireEvent) => {
  for (const [source, path, target] of C_VARIABLES) {
    attempt(() => {
      // Through JSON: a value that cannot be serialised must not break the event.
      const value = JSON.parse(JSON.stringify(READ[source](path as string & string[]) ?? null));
      let at: Record<string, unknown> = event;
      target.slice(0, -1).forEach((name) => {
        at = (at[name] = at[name] || {}) as Record<string, unknown>;
      });
      const last = target[target.length - 1]!;
      if (value !== null && value !== '' && at[last] === undefined) at[last] = value;
    });
  }
};
