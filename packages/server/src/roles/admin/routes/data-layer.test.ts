import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import { expect, test } from 'vitest';
import { onStory } from '../testing/story.ts';

onStory('the data layer', (story) => {
  test('is complete before anybody has touched it', async () => {
    expect(await story.got('data-layer')).toEqual({
      org_id: story.org.org_id,
      config: DEFAULT_DATA_LAYER,
      version: 0,
      updated_at: null,
      updated_by: null,
    });
  });

  test('replaces each section that is sent, fills its missing keys with defaults, and leaves the others', async () => {
    const first = await story.put('data-layer', {
      config: { bot_filtering: { action: 'drop', custom_patterns: ['MyBot'] }, pii_rules: { ip: 'truncate' } },
    });
    expect(first).toMatchObject({ version: 1, updated_by: story.org.owner.id, updated_at: expect.any(String) });
    expect(first.config).toEqual({
      ...DEFAULT_DATA_LAYER,
      bot_filtering: { action: 'drop', custom_patterns: ['MyBot'], block_empty_user_agent: false },
      pii_rules: { ...DEFAULT_DATA_LAYER.pii_rules, ip: 'truncate' },
    });
    const second = await story.put('data-layer', { config: { bot_filtering: { block_empty_user_agent: true } } });
    expect(second.version).toBe(2);
    expect(second.config.bot_filtering).toEqual({ action: 'flag', custom_patterns: [], block_empty_user_agent: true });
    expect(second.config.pii_rules.ip).toBe('truncate');
    expect(await story.got('data-layer')).toEqual(second);
  });

  test('takes every section of the contract, and what was read can be sent back', async () => {
    const config = {
      consent: { mapping: { necessary: 'essential', ads: 'advertising' }, default: { analytics: true }, honour_gpc: false },
      bot_filtering: { action: 'allow', block_empty_user_agent: true, custom_patterns: ['x'] },
      pii_rules: {
        ip: 'drop',
        fields: [{ path: 'traits.email', action: 'hash' }],
        detect: ['email', 'card'],
        detect_action: 'drop',
        url_params: ['token'],
      },
      session: { timeout_minutes: 5 },
      identity: { remember_traits: ['email'], click_id_days: {} },
      custom_js: { enabled: true, code: 'function transform(event) { return event }' },
      routing_rules: [{ condition: { field: 'event', op: 'eq', value: 'Internal' }, action: 'drop' }],
    };
    const saved = await story.put('data-layer', { config });
    expect(saved.config).toEqual(config);
    const entry = await story.audited(() => story.put('data-layer', saved));
    expect(entry.changes).toEqual({});
    await story.put('data-layer', { config: DEFAULT_DATA_LAYER });
  });

  test.each([
    ['config', {}, 400],
    ['config', { config: [] }, 422],
    ['config.bots', { config: { bots: {} } }, 422],
    ['config.bot_filtering.action', { config: { bot_filtering: { action: 'shoot' } } }, 422],
    ['config.pii_rules.ip', { config: { pii_rules: { ip: 'sell' } } }, 422],
    ['config.session.timeout_minutes', { config: { session: { timeout_minutes: 0 } } }, 422],
    ['config.custom_js.code', { config: { custom_js: { enabled: true, code: 'function transform(' } } }, 422],
    ['config.routing_rules', { config: { routing_rules: {} } }, 422],
    ['konfig', { config: {}, konfig: {} }, 422],
  ])('names the fault at %s (%j)', async (field, body, status) => {
    const before = await story.got('data-layer');
    expect(await story.refusal('PUT', 'data-layer', body)).toEqual([status, status === 400 ? 'MISSING_FIELD' : 'VALIDATION_ERROR', field]);
    expect(await story.got('data-layer')).toEqual(before);
  });

  test('rejects a change based on an outdated version', async () => {
    const { version } = await story.got('data-layer');
    const put = (match: string) => story.call('PUT', 'data-layer', { config: { session: { timeout_minutes: 10 } } }, { 'if-match': match });
    expect((await put(`"${version}"`)).status).toBe(200);
    const stale = await put(String(version));
    expect([stale.status, stale.body.error.code]).toEqual([409, 'CONFLICT']);
    expect((await put(String(version + 1))).status).toBe(200);
    expect((await put('*')).status).toBe(200);
    expect((await put('nonsense')).status).toBe(409);
    const parallel = await Promise.all([1, 2, 3, 4].map(() => put(String(version + 3))));
    expect(parallel.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  test('is for admins to change, for viewers to read, and each organisation has its own', async () => {
    const body = { config: { identity: { remember_traits: ['phone'] } } };
    expect(await story.refusal('PUT', 'data-layer', body, await story.as('editor'))).toEqual([403, 'FORBIDDEN']);
    const admin = await story.as('admin');
    const entry = await story.audited(() => admin('PUT', 'data-layer', body));
    expect(entry).toMatchObject({
      action: 'data_layer.updated',
      resource_id: story.org.org_id,
      changes: {
        identity: { old: { remember_traits: [], click_id_days: {} }, new: { remember_traits: ['phone'], click_id_days: {} } },
      },
    });
    expect((await (await story.as('viewer'))('GET', 'data-layer')).body.config.identity.remember_traits).toEqual(['phone']);
    expect((await story.stranger('GET', 'data-layer')).body.version).toBe(0);
  });
});
