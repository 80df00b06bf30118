import { expect, test } from 'vitest';
import { roleFromClaims } from './oidc-role.ts';

const map = new Map([
  ['staff', 'viewer'],
  ['firsthand-admins', 'admin'],
] as const);
test.each([
  ['a list', { groups: ['staff'] }, 'groups', 'viewer'],
  ['the highest of several', { groups: ['firsthand-admins', 'staff'] }, 'groups', 'admin'],
  ['one text', { groups: 'staff' }, 'groups', 'viewer'],
  ['a nested claim', { realm_access: { roles: ['staff'] } }, 'realm_access.roles', 'viewer'],
  ['a claim with dots in its name', { 'https://shop.example/groups': ['staff'] }, 'https://shop.example/groups', 'viewer'],
  ['unknown groups', { groups: ['sales'] }, 'groups', undefined],
  ['a role name that is not mapped', { groups: ['owner'] }, 'groups', undefined],
  ['no claim', {}, 'groups', undefined],
  ['nonsense', { groups: [1, null, { staff: true }] }, 'groups', undefined],
  ['inherited names', {}, '__proto__', undefined],
])('with a map, %s gives %s', (_name, claims, claim, role) => {
  expect(roleFromClaims(claims, claim, map)).toBe(role);
});

test('without a map the claim names roles', () => {
  expect(roleFromClaims({ role: 'editor' }, 'role', undefined)).toBe('editor');
  expect(roleFromClaims({ role: 'superuser' }, 'role', undefined)).toBeUndefined();
});
