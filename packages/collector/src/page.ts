/** Page helpers. None of them throws. */

/** Returns undefined on an exception: nothing may throw into the page. */
export const attempt = <T>(what: () => T): T | undefined => {
  try {
    return what();
  } catch {
    // Returns undefined.
  }
};

export const page = window as unknown as Record<string, unknown>; // globals of other scripts, by name
/** Listens on the window in the capture phase, which also sees events of the document and of elements. */
export const listen = (name: string, handler: (event: Event) => void) =>
  addEventListener(name, (event) => attempt(() => handler(event)), true);

/** `crypto.randomUUID` is missing without https. Ids must be unique, not secret. */
export const uuid = (): string =>
  crypto.randomUUID?.() || 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.random().toString(16)[2]!);

/** The raw value of a cookie. Uses no pattern: the first one costs a new process a quarter of a millisecond. */
export const cookie = (name: string) => attempt(() => `; ${document.cookie}`.split(`; ${name}=`)[1]?.split(';')[0]);

/**
 * Sets the cookie on the widest domain the browser accepts. That is the registrable domain, which the server uses too, so both
 * write the same cookie. An empty value removes it from all domains. Browsers cap `max-age` at 400 days.
 */
export const setCookie = (name: string, value: string) =>
  attempt(() => {
    const labels = location.hostname.split('.');
    for (let i = labels.length; i >= 0; i--) {
      // An empty domain means the host only.
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in many browsers, and asynchronous
      document.cookie = `${name}=${value};path=/;max-age=${value ? 4e7 : 0};samesite=lax;domain=${i ? labels.slice(i - 1).join('.') : ''}${isSecureContext ? ';secure' : ''}`;
      if (value && cookie(name) === value) break;
    }
  });
