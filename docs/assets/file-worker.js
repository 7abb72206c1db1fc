// Search for pages that are opened from files. Browsers start no worker there, so the worker's
// script runs in a hidden frame. The site's build puts this file in place of one from another host.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    onmessage = null;
    #inner;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.#inner = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => this.#receive(structuredClone(data));
          const script = inner.document.createElement("script");
          script.src = new URL(url, location.href).href;
          script.addEventListener("load", () => resolve(inner));
          inner.document.body.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    async postMessage(data) {
      const inner = await this.#inner;
      inner.dispatchEvent(new inner.MessageEvent("message", { data: inner.structuredClone(data) }));
    }

    #receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }
  };
}
