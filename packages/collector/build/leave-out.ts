/**
 * The mapping engine stands on a few large packages that most configurations never reach: phone numbers, regular
 * expressions, templates. What a configuration does not mention is replaced by a stand-in that says so if it is called.
 */
import type { Plugin } from 'esbuild';

const LARGE_PACKAGES = [
  {
    filter: /^libphonenumber-js/,
    mentioned: /phone/,
    standIn: 'export const isSupportedCountry = () => false; export const parsePhoneNumberFromString = () => undefined;',
  },
  {
    filter: /^re2js$/,
    mentioned: /matches|replace/,
    standIn: `export const RE2JS = { compile() { throw new Error('left out of this build'); } };`,
  },
  {
    filter: /^@handlebars\/parser$/,
    mentioned: /template/,
    standIn: `export const parse = () => { throw new Error('left out of this build'); };`,
  },
];

/** `text` is the JSON of everything that the engine will be given. */
export function leaveOut(text: string): Plugin {
  return {
    name: 'leave-out',
    setup(build) {
      for (const { filter, mentioned, standIn } of LARGE_PACKAGES) {
        if (mentioned.test(text)) continue;
        build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'left-out', pluginData: standIn, sideEffects: false }));
      }
      build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ pluginData }) => ({ contents: pluginData as string, loader: 'js' }));
    },
  };
}
