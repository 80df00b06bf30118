import type { Migration } from './migration.ts';

/** Which accounts have signed in from which networks. */
export const loginPlaces: Migration = {
  id: 4,
  name: 'login-places',
  sql: ({ text, bigint }) => [
    `create table login_places (place_hash ${text} primary key, seen_ms ${bigint} not null)`,
    'create index login_places_seen on login_places (seen_ms)',
  ],
};
