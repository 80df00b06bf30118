/** Values that the page has anyway, put into every event. What the call itself says wins. */
import { attempt, cookie, page } from './page.ts';
import type { WireEvent } from './types.ts';

const walk = (from: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter(Boolean)
    .reduce((value: unknown, name) => (value == null ? undefined : (value as Record<string, unknown>)[name]), from);

const READ: Record<string, (path: string) => unknown> = {
  // The newest entry that has it: later pushes override earlier ones.
  d: (path) =>
    ((page.dataLayer || []) as unknown[])
      .map((entry) => attempt(() => walk(entry, path)))
      .filter((value) => value !== undefined)
      .pop(),
  j: (path) => walk(page, path),
  // The builder has escaped the name.
  c: (path) => decodeURIComponent(cookie(path) || ''),
  q: (path) => new URLSearchParams(location.search).get(path),
  m: (path) => Array.from(document.querySelectorAll('meta')).find((meta) => (meta.name || meta.getAttribute('property')) === path)?.content,
  s: (path) => {
    const element = document.querySelector(path) as HTMLInputElement | null;
    return element && (element.value || (element.textContent || '').trim());
  },
};

export const addVariables = (event: WireEvent) => {
  for (const [source, path, target] of C_VARIABLES) {
    attempt(() => {
      // Through JSON: what cannot be sent must not take the event with it.
      const value = JSON.parse(JSON.stringify(READ[source]!(path) ?? null));
      let at: Record<string, unknown> = event;
      target.slice(0, -1).forEach((name) => {
        at = (at[name] = at[name] || {}) as Record<string, unknown>;
      });
      const last = target[target.length - 1]!;
      if (value !== null && value !== '' && at[last] === undefined) at[last] = value;
    });
  }
};
