/** What each role may do, as the API decides it. */
import type { Role } from './session.ts';

export type { Role };

const ROLES: readonly Role[] = ['viewer', 'editor', 'admin', 'owner'];

export const reaches = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed);
/** Only an owner makes owners. */
export const rolesToGive = (mine: Role): Role[] => ROLES.filter((role) => role !== 'owner' || mine === 'owner');
/** Admins change users, but only an owner changes an owner. */
export const roleToChange = (theirs: Role): Role => (theirs === 'owner' ? 'owner' : 'admin');
