import { isLocalName, isPrivateAddress } from './address.ts';

export interface UrlRules {
  mode: 'development' | 'production';
  allow_private: boolean;
}

/** Why a URL must not be a destination, or undefined. Names are resolved and checked again at each connection. */
export function urlFault(text: string, rules: UrlRules): string | undefined {
  if (/[\s\\]/.test(text) || !URL.canParse(text)) return 'must be an absolute http or https URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an absolute http or https URL';
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password';
  if (rules.mode === 'production') {
    if (url.protocol !== 'https:') return 'must use https in production';
    if (!rules.allow_private && (isLocalName(url.hostname) || isPrivateAddress(url.hostname)))
      return 'must not be a local or private address in production';
  }
  return undefined;
}

/** Replaces scheme and host of a URL by those of the config field `endpoint`. */
export function redirectTo(endpoint: unknown): (url: string) => string {
  if (typeof endpoint !== 'string') return (url) => url;
  const base = endpoint.replace(/[?#].*$/s, '').replace(/(?<!\/)\/+$/, '');
  return (url) => url.replace(/^https?:\/\/[^/?#]*/i, () => base);
}
