/** The visitor's id: from the server's cookie, else from storage, else new. */
import { attempt, cookie, page, setCookie, uuid } from './page.ts';
import { isOpen, read, remove, write } from './storage.ts';

export const ID = '_df_id';
export const USER = '_df_u';

export const anonymousId = (): string => read(ID) || write(ID, uuid()) || read(ID)!;

/** Reads the cookie asynchronously if the browser can: a synchronous read blocks the page on another process. */
export const askCookie = (then: (id?: string) => void) => {
  const store = page.cookieStore as { get(name: string): Promise<{ value?: string } | null> } | undefined;
  // A rejected promise counts as no cookie.
  const tell = (found?: { value?: string } | null) => attempt(() => then(found?.value));
  store?.get(ID).then(tell, tell) || then(cookie(ID));
};

/**
 * Sets our own cookie if a reply brought none. Call only after a reply: the server's cookie lives 400 days, ours 7 days in
 * some browsers. So ours is for pages that share no domain with the server.
 */
export const keepCookie = () =>
  askCookie((id) => {
    if (F_GATE && !isOpen) {
      // The reply to a request from before the denial has set the cookie again.
      if (id && isOpen === false) forgetCookie();
    } else if (id !== anonymousId()) setCookie(ID, anonymousId());
  });
export const forgetCookie = () => setCookie(ID, '');

export const resetIdentity = () => {
  remove(USER);
  remove(ID);
  setCookie(ID, '');
};
