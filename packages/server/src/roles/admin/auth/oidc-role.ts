import type { UserRole } from '../../../stores/config/schema.ts';
import { ROLE_ORDER } from '../deps.ts';

/** Group to role, from OIDC_ROLE_MAP. */
export type RoleMap = ReadonlyMap<string, UserRole>;

/**
 * The highest role in the claim. Without a map the claim must contain role names. Undefined: the claim has none. The claim
 * is a text or a list of texts; a dot in its name separates object keys (`realm_access.roles`).
 */
export function roleFromClaims(claims: Record<string, unknown>, claim: string, map: RoleMap | undefined): UserRole | undefined {
  const values = [valueAt(claims, claim)].flat().filter((value) => typeof value === 'string');
  const roles = values.map((value) => (map === undefined ? ROLE_ORDER.find((role) => role === value) : map.get(value)));
  return ROLE_ORDER.findLast((role) => roles.includes(role));
}

function valueAt(claims: Record<string, unknown>, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  let at: unknown = claims;
  for (const part of claim.split('.'))
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, part) ? (at as Record<string, unknown>)[part] : undefined;
  return at;
}
