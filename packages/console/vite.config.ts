import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'dist',
    target: 'es2022',
    // Everything comes from hashed files, so the page needs no inline script and the CSP can forbid them.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    // The component library marks its modules for React's server components, which a bundle for the browser has no use for.
    rolldownOptions: {
      onwarn: (warning, warn) => (warning.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : warn(warning)),
    },
  },
  server: { proxy: { '/v1': { target: 'http://localhost:8080', ws: true }, '/docs': 'http://localhost:8080' } },
});
