import { expect, test } from 'vitest';
import { mayChangeUser, reaches, rolesToGive } from './roles.ts';

test('a role may do what the ones before it may', () => {
  expect([reaches('editor', 'viewer'), reaches('editor', 'editor'), reaches('editor', 'admin')]).toEqual([true, true, false]);
});
test('an admin is not offered what the API refuses: making or changing an owner', () => {
  expect(rolesToGive('admin')).toEqual(['viewer', 'editor', 'admin']);
  expect(rolesToGive('owner')).toContain('owner');
  expect([mayChangeUser('admin', 'admin'), mayChangeUser('admin', 'owner'), mayChangeUser('owner', 'owner')]).toEqual([true, false, true]);
  expect(mayChangeUser('editor', 'viewer')).toBe(false);
});
