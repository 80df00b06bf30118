export { VERSION } from '@firsthand/core/vendor/version.ts';
