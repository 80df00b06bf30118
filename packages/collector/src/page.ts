/** Small ways to the page. Nothing in here throws. */

/** Nothing of ours may throw into the page; what cannot be done is left undone. */
export const attempt = <T>(what: () => T): T | undefined => {
  try {
    return what();
  } catch {
    return undefined;
  }
};

export const page = window as unknown as Record<string, unknown>;
export const listen = (target: EventTarget, name: string, handler: (event: Event) => void) =>
  target.addEventListener(name, (event) => attempt(() => handler(event)), true);

/** Own version 4 UUID: `crypto.randomUUID` is missing on pages without https. */
export const uuid = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 15) | 64;
  bytes[8] = (bytes[8]! & 63) | 128;
  return Array.from(bytes, (byte, i) => (i > 3 && i < 11 && !(i & 1) ? '-' : '') + (byte + 256).toString(16).slice(1)).join('');
};

/** Every cookie the page may read, as pairs. */
export const cookies = (): [name: string, value: string][] =>
  (attempt(() => document.cookie) || '').split('; ').map((pair) => {
    const at = pair.indexOf('=');
    const value = pair.slice(at + 1);
    return [pair.slice(0, at), attempt(() => decodeURIComponent(value)) ?? value];
  });

export const cookie = (name: string): string | undefined => cookies().find((pair) => pair[0] === name)?.[1];

/**
 * The widest domain that the browser takes is the registrable one, which is where the server sets its cookie too: so both
 * write the same cookie. An empty value removes it, wherever it stands.
 */
export const setCookie = (name: string, value: string) =>
  attempt(() => {
    const labels = location.hostname.split('.');
    for (let i = labels.length; i >= 0; i--) {
      const domain = i ? `;domain=${labels.slice(i - 1).join('.')}` : '';
      const secure = location.protocol === 'https:' ? ';secure' : '';
      document.cookie = `${name}=${value};path=/;max-age=${value ? 34560000 : 0};samesite=lax${domain}${secure}`;
      if (value && cookie(name) === value) break;
    }
  });
