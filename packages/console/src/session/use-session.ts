import { useSyncExternalStore } from 'react';
import { type Role, reaches } from './roles.ts';
import { type SessionState, session, type User, userOf } from './session.ts';

export function useSession(): SessionState {
  return useSyncExternalStore(session.subscribe, session.get);
}
/** Only for pages behind the sign-in. */
export function useUser(): User {
  const user = userOf(useSession());
  if (user === undefined) throw new Error('useUser outside of a signed-in page');
  return user;
}

/** Whether the user may do what needs `role`; a disabled action shows the name of that role. */
export function useMay(role: Role): boolean {
  return reaches(useUser().role, role);
}
