/** Who the visitor is: the server's cookie first, our storage next, a new id else. */
import { cookie, setCookie, uuid } from './page.ts';
import { isOpen, read, remove, write } from './storage.ts';

const ID = '_df_id';
export const USER = '_df_u';

export const setAnonymousId = (id: string) => write(ID, id);
export const anonymousId = (): string => {
  if (!read(ID)) setAnonymousId(uuid());
  return read(ID)!;
};

export const startIdentity = () => {
  const id = cookie(ID);
  if (id) setAnonymousId(id);
};

/**
 * Only after an answer: a cookie that the server sets lives 400 days, one of ours 7 days in some browsers, and the server
 * sets none where it finds the right one. So ours is for pages that share no domain with the server.
 */
export const keepCookie = () => {
  if ((!F_GATE || isOpen) && cookie(ID) !== anonymousId()) setCookie(ID, anonymousId());
};
export const forgetCookie = () => setCookie(ID, '');

export const resetIdentity = () => {
  remove(USER);
  setAnonymousId(uuid());
  setCookie(ID, '');
};
