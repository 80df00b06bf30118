import { expect, test } from 'vitest';
import { reaches, rolesToGive, roleToChange } from './roles.ts';

test('a role may do what the ones before it may', () => {
  expect([reaches('editor', 'viewer'), reaches('editor', 'editor'), reaches('editor', 'admin')]).toEqual([true, true, false]);
});
test('an admin is not offered what the API refuses: making or changing an owner', () => {
  expect(rolesToGive('admin')).toEqual(['viewer', 'editor', 'admin']);
  expect(rolesToGive('owner')).toContain('owner');
  expect([roleToChange('viewer'), roleToChange('admin'), roleToChange('owner')]).toEqual(['admin', 'admin', 'owner']);
});
