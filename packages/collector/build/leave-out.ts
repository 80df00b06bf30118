/**
 * The mapping engine uses a few large packages that most configurations do not need: phone numbers, regular expressions,
 * templates. A package that the configuration does not mention is replaced by a stub.
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

/** `text`: the JSON of the engine's whole input. */
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
