/**
 * One visitor on several domains: a link to a domain of ours carries the anonymous id, the time and a checksum that also
 * covers the browser, so a link that was copied elsewhere, or is older than two minutes, says nothing.
 */
import { anonymousId } from './identity.ts';
import { attempt, listen } from './page.ts';
import { isOpen } from './storage.ts';

const NAME = '_df_x';
const MAX_AGE_MS = 12e4;

/** FNV-1a over the text, 32 bits. Not a secret: it keeps accidents out, not attackers. */
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

/** By hand, because writing `searchParams` would re-encode the rest of the query. */
const without = (text: string) => text.replace(/([?&])_df_x=[^&#]*&?/, '$1').replace(/[?&](#|$)/, '$1');

const decorate = (event: Event) => {
  const link = (event.composedPath()[0] as Element).closest('a[href],form') as HTMLAnchorElement | HTMLFormElement | null;
  if (!link || (F_GATE && !isOpen)) return;
  const form = 'elements' in link;
  if (form !== (event.type === 'submit')) return;
  const url = new URL(form ? link.getAttribute('action') || '' : link.href, location.href);
  if (!isOurs(url)) return;
  if (form && link.method === 'get') {
    // A GET form replaces the query of its address by its fields.
    const field = link.querySelector<HTMLInputElement>(`[name=${NAME}]`) || link.appendChild(document.createElement('input'));
    field.type = 'hidden';
    field.name = NAME;
    field.value = pass();
    return;
  }
  url.search = `${without(url.search) || '?'}&${NAME}=${pass()}`.replace('?&', '?');
  link.setAttribute(form ? 'action' : 'href', url.href);
};

/** Takes the parameter out of the address bar before anything else reads the address. Returns the id it brought. */
export const startCrossDomain = (): string | undefined => {
  for (const name of ['click', 'auxclick', 'submit']) listen(name, decorate);
  // By hand: the first URL object of a page, and its first pattern, take long to make.
  const value = location.search.replace('?', '&').split(`&${NAME}=`)[1]?.split('&')[0];
  if (value === undefined) return;
  attempt(() => history.replaceState(history.state, '', without(location.href)));
  return accept(value);
};
