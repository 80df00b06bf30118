/** The reply to a pixel request: a transparent GIF of one pixel. */
export const PIXEL = {
  status: 200,
  body: Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
  contentType: 'image/gif',
  headers: ['Cache-Control', 'no-store'],
};
