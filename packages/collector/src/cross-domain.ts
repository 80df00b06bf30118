/**
 * Keeps one visitor across domains: a link to a configured domain carries the anonymous id, the time and a checksum over both
 * and the browser. A link that was copied to another browser, or is older than two minutes, is ignored.
 */
import { anonymousId } from './identity.ts';
import { attempt, listen } from './page.ts';
import { isOpen } from './storage.ts';

const NAME = '_df_x';
const MAX_AGE_MS = 12e4;

/** 32-bit FNV-1a. Guards against accidents, not against attackers. */
const checksum = (text: string): string => {
  let hash = 0x811c9dc5;
  for (const char of text + navigator.userAgent + navigator.language) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  return (hash >>> 0).toString(36);
};

const pass = () => {
  const text = `${Date.now().toString(36)}.${anonymousId()}`;
  return `${checksum(text)}.${text}`;
};

const accept = (value: string) => {
  const [sum, time, ...rest] = value.split('.');
  const age = Date.now() - Number.parseInt(time!, 36);
  const id = rest.join('.');
  if (sum === checksum(`${time}.${id}`) && Math.abs(age) < MAX_AGE_MS && /^[\w.-]{8,64}$/.test(id)) return id;
};

const isOurs = (url: URL) =>
  url.host !== location.host &&
  /^http/.test(url.protocol) &&
  C_DOMAINS.some((domain) => [url.host, url.hostname].some((host) => host === domain || host.endsWith(`.${domain}`)));

/** Text operations, because writing `searchParams` would re-encode the rest of the query. */
const without = (text: string) => text.replace(/([?&])_df_x=[^&#]*&?/, '$1').replace(/[?&](#|$)/, '$1');

const decorate = (event: Event) => {
  const link = (event.composedPath()[0] as Element).closest('a[href],form') as HTMLAnchorElement | HTMLFormElement | null;
  if (!link || (F_GATE && !isOpen)) return;
  const form = 'elements' in link;
  if (form !== (event.type === 'submit')) return;
  const url = new URL(form ? link.getAttribute('action') || '' : link.href, location.href);
  if (!isOurs(url)) return;
  if (form && link.method === 'get') {
    // Submitting a GET form replaces the query of its URL with its fields.
    const field = link.querySelector<HTMLInputElement>(`[name=${NAME}]`) || link.appendChild(document.createElement('input'));
    field.type = 'hidden';
    field.name = NAME;
    field.value = pass();
    return;
  }
  url.search = `${without(url.search) || '?'}&${NAME}=${pass()}`.replace('?&', '?');
  link.setAttribute(form ? 'action' : 'href', url.href);
};

/** Removes the parameter from the address bar before anything else reads the URL. Returns its id if it is valid. */
export const startCrossDomain = (): string | undefined => {
  for (const name of ['click', 'auxclick', 'submit']) listen(name, decorate);
  // No URL object and no pattern: the first of each is slow to create.
  const value = location.search.replace('?', '&').split(`&${NAME}=`)[1]?.split('&')[0];
  if (value === undefined) return;
  attempt(() => history.replaceState(history.state, '', without(location.href)));
  return accept(value);
};
