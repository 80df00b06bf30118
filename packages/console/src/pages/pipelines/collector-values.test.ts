import { expect, test } from 'vitest';
import { type BuilderConfig, configOf, formField, isShown, valuesOf } from './collector-values.ts';

const CONFIG: BuilderConfig = {
  script_filename: 'd.js',
  global_variable: '_df',
  delivery_method: 'cdn',
  cross_domain: false,
  consent_config: { provider: 'onetrust', wait_ms: 500, required_category: 'analytics' },
  vendor_syncs: { meta: { enabled: true, consent_category: 'marketing' }, tiktok: { enabled: false } },
  variables: [{ name: 'Section', source: 'meta', path: 'section', target: 'properties.section' }],
};

test('a configuration that is shown and saved unchanged is the same', () => {
  expect(configOf(valuesOf(CONFIG))).toEqual(CONFIG);
  const bare = { ...CONFIG, consent_config: {}, vendor_syncs: {}, variables: [] };
  expect(configOf(valuesOf(bare))).toEqual(bare);
});
test('an error of the API is shown at the row that causes it', () => {
  const values = valuesOf(CONFIG);
  expect(formField('js_builder_config.variables[0].target', values)).toBe('variables.0.target');
  expect(formField('js_builder_config.vendor_syncs.tiktok.consent_category', values)).toBe('vendor_syncs.1.consent_category');
  expect(formField('js_builder_config.consent_config.wait_ms', values)).toBe('consent_config.wait_ms');
  expect(formField('script_filename', values)).toBe('script_filename');
});
test('a fault of a list as a whole has no row of its own', () => {
  expect(['variables.0.target', 'consent_config.wait_ms', 'cross_domain'].map(isShown)).toEqual([true, true, true]);
  expect(['variables', 'consent_config', 'js_builder_config', 'labels.0'].map(isShown)).toEqual([false, false, false, false]);
});
