/** Small ways to the page. Nothing in here throws. */

/** Nothing of ours may throw into the page; what cannot be done is left undone. */
export const attempt = <T>(what: () => T): T | undefined => {
  try {
    return what();
  } catch {
    // Undefined says it.
  }
};

export const page = window as unknown as Record<string, unknown>;
/** At the window, on the way down: events of the document and of elements pass there too. */
export const listen = (name: string, handler: (event: Event) => void) =>
  addEventListener(name, (event) => attempt(() => handler(event)), true);

/** By hand on pages without https, where `crypto.randomUUID` is missing. Ids have to differ; nobody relies on their being secret. */
export const uuid = (): string =>
  crypto.randomUUID?.() || 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, () => Math.random().toString(16)[2]!);

/** The value of a cookie, as it stands. Without a pattern, the first of which costs a new process a quarter of a millisecond. */
export const cookie = (name: string) => attempt(() => `; ${document.cookie}`.split(`; ${name}=`)[1]?.split(';')[0]);

/**
 * The widest domain that the browser takes is the registrable one, which is where the server sets its cookie too: so both
 * write the same cookie. An empty value removes it, wherever it stands;
 * a longer life than the 400 days that browsers allow becomes those.
 */
export const setCookie = (name: string, value: string) =>
  attempt(() => {
    const labels = location.hostname.split('.');
    for (let i = labels.length; i >= 0; i--) {
      // An empty domain is none: the host alone.
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in many browsers, and asynchronous
      document.cookie = `${name}=${value};path=/;max-age=${value ? 4e7 : 0};samesite=lax;domain=${i ? labels.slice(i - 1).join('.') : ''}${isSecureContext ? ';secure' : ''}`;
      if (value && cookie(name) === value) break;
    }
  });
