/** Who the visitor is: the server's cookie first, our storage next, a new id else. */
import { attempt, cookie, page, setCookie, uuid } from './page.ts';
import { isOpen, read, remove, write } from './storage.ts';

export const ID = '_df_id';
export const USER = '_df_u';

export const setAnonymousId = (id: string) => {
  write(ID, id);
  return id;
};
export const anonymousId = (): string => read(ID) || setAnonymousId(uuid());

/** The page does not wait for another process to say what the cookie is, where the browser can be asked in this way. */
export const askCookie = (then: (id?: string) => void) => {
  const store = page.cookieStore as { get(name: string): Promise<{ value?: string } | null> } | undefined;
  // A refusal has no value either.
  const tell = (found?: { value?: string } | null) => attempt(() => then(found?.value));
  store?.get(ID).then(tell, tell) || then(cookie(ID));
};

/**
 * Only after an answer: a cookie that the server sets lives 400 days, one of ours 7 days in some browsers, and the server
 * sets none where it finds the right one. So ours is for pages that share no domain with the server.
 */
export const keepCookie = () =>
  askCookie((id) => {
    if (F_GATE && !isOpen) {
      // The answer to what was sent before the visitor said no has brought it again.
      if (id && isOpen === false) forgetCookie();
    } else if (id !== anonymousId()) setCookie(ID, anonymousId());
  });
export const forgetCookie = () => setCookie(ID, '');

export const resetIdentity = () => {
  remove(USER);
  setAnonymousId(uuid());
  setCookie(ID, '');
};
