// A choice of versions in the sidebar, where there is more than one. The list is in versions.js above the
// folders of the versions.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".versions");
  const versions = window.tidegateVersions || [];
  if (!place || versions.length < 2) return;
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "version");
  for (const version of versions) {
    const here = version === place.dataset.version;
    choice.add(new Option(version, version, here, here));
  }
  choice.addEventListener("change", () => {
    location.href = place.dataset.start.replace(/index\.html$/, `../${choice.value}/index.html`);
  });
  place.replaceChildren("version ", choice);
});
