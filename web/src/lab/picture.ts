// The charts that are shown as one picture: PNG, with their titles and keys.

const [MARGIN, HEAD, KEY, GAP] = [16, 20, 18, 10];

/** Draws every chart of a board below the other, as the screen shows them. */
export async function picture(stage: HTMLElement, title: string): Promise<Blob> {
  const charts = [...stage.querySelectorAll<HTMLElement>(".chart")];
  const ratio = devicePixelRatio;
  const look = getComputedStyle(document.body);
  const drawn = charts.flatMap((chart) => {
    const canvas = chart.querySelector("canvas");
    return canvas ? [{ chart, canvas, tall: HEAD + KEY + canvas.height / ratio + GAP }] : [];
  });
  const wide = Math.max(320, ...drawn.map(({ canvas }) => canvas.width / ratio)) + 2 * MARGIN;
  const whole = document.createElement("canvas");
  whole.width = wide * ratio;
  whole.height = (drawn.reduce((sum, { tall }) => sum + tall, 2 * MARGIN) + HEAD) * ratio;
  const pen = whole.getContext("2d");
  if (!pen) throw new Error("this browser draws no picture");
  pen.scale(ratio, ratio);
  pen.fillStyle = look.backgroundColor;
  pen.fillRect(0, 0, wide, whole.height);
  pen.fillStyle = look.color;
  pen.font = "600 15px system-ui, sans-serif";
  pen.fillText(title, MARGIN, MARGIN + 12, wide - 2 * MARGIN);
  let down = MARGIN + HEAD;
  for (const { chart, canvas, tall } of drawn) {
    pen.fillStyle = look.color;
    pen.font = "600 13px system-ui, sans-serif";
    pen.fillText(chart.querySelector("h3")?.textContent ?? "", MARGIN, down + 14);
    keys(pen, chart, down + HEAD + 12, wide - MARGIN);
    pen.drawImage(canvas, MARGIN, down + HEAD + KEY, canvas.width / ratio, canvas.height / ratio);
    down += tall;
  }
  return new Promise((resolve, reject) =>
    whole.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("no picture was made"))),
      "image/png",
    ),
  );
}

/** The names of lines, each with its colour; those that are switched off are left out. */
function keys(pen: CanvasRenderingContext2D, chart: HTMLElement, down: number, end: number): void {
  pen.font = "12px system-ui, sans-serif";
  let left = MARGIN;
  for (const item of chart.querySelectorAll<HTMLElement>(".key li")) {
    const sign = item.querySelector("i");
    const button = item.querySelector("button");
    if (!sign || button?.getAttribute("aria-pressed") === "false") continue;
    const look = getComputedStyle(sign);
    const filled = look.backgroundColor !== "rgba(0, 0, 0, 0)";
    const words = (button ?? item).textContent?.trim() ?? "";
    const wide = pen.measureText(words).width;
    if (left + wide + 20 > end) return;
    pen.fillStyle = filled ? look.backgroundColor : look.color;
    pen.fillRect(left, filled ? down - 9 : down - 5, 12, filled ? 9 : 3);
    pen.fillStyle = getComputedStyle(document.body).color;
    pen.fillText(words, left + 16, down);
    left += wide + 34;
  }
}
